#!/usr/bin/env bash
# What stackrank needs from the system, installed only where it is missing. Usage: system.sh demo|test|exhaustive
#
# demo: git, and bubblewrap if no Docker engine answers.
# test: everything that a test uses: both sandboxes, PostgreSQL and PgBouncer, a browser, a compiler, debuggers.
# exhaustive: also compilers and debuggers of other languages, 1.5 GB.
set -euo pipefail
# shellcheck source=deploy/setup/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kind=${1:-demo}
packages=()

have_browser() { have chromium-headless-shell || have chromium || have chromium-browser || have google-chrome; }

have_postgres() { have postgres || compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null; }

have_pgbouncer() { have pgbouncer || [ -x /usr/sbin/pgbouncer ]; }

have_debootstrap() { have debootstrap || [ -x /usr/sbin/debootstrap ]; }

# Sandboxes see no tool chain in a home folder. Debian 12's own Rust is too old for some of the exercises.
have_cargo() { [ -x /usr/bin/cargo ] && ! [[ "$(/usr/bin/cargo --version)" =~ ^cargo\ 1\.[0-7]?[0-9]\. ]]; }

have_dockerd() { have dockerd || [ -x /usr/sbin/dockerd ]; }

# The tests start servers of their own. A cluster and a service that nobody asked for would stay on this machine, so the
# package is told not to make one, and its own default is put back afterwards.
install_without_cluster() { # DURATION PACKAGE...
    local conf=/etc/postgresql-common/createcluster.conf packaged=/usr/share/postgresql-common/createcluster.conf
    local ours="" status=0
    if [[ " $* " == *" postgresql "* ]] && [ ! -e "$conf" ] && can_be_root; then
        ours=yes
        as_root mkdir -p "${conf%/*}"
        echo "create_main_cluster = false" | as_root tee "$conf" >/dev/null
    fi
    apt_install "$@" || status=$?
    if [ -n "$ours" ] && [ -e "$packaged" ]; then as_root cp "$packaged" "$conf"; fi
    return "$status"
}

have git || packages+=(git)
if [ ! -x "$repo/.venv/bin/python" ]; then
    python=$(find_python)
    # Here too, so that everything is installed, or asked for, at once.
    for package in $(missing_venv_package "$python"); do packages+=("$package"); done
fi

if [ "$kind" = demo ]; then
    if ! engine_answers && ! have bwrap; then packages+=(bubblewrap); fi
    if ((${#packages[@]})); then apt_install "a few seconds" "${packages[@]}" || exit 1; fi
    exit 0
fi

duration="under a minute"
have bwrap || packages+=(bubblewrap)
have_debootstrap || packages+=(debootstrap)
if have_debootstrap && [ -f /usr/share/keyrings/debian-archive-keyring.gpg ]; then :; else
    packages+=(debian-archive-keyring)
fi
if ! engine_answers; then
    # The command line is part of docker.io in older releases, and a package of its own in newer ones.
    have_dockerd || packages+=(docker.io)
    have docker || packages+=("docker-cli|docker.io")
    have iptables || [ -x /usr/sbin/iptables ] || packages+=(iptables)
fi
have_postgres || packages+=(postgresql)
have_pgbouncer || packages+=(pgbouncer)
have gdb || packages+=(gdb)
have gcc || packages+=(gcc libc6-dev)
have node || packages+=(nodejs)
have g++ || packages+=(g++) # compiles a model server (servers.sh)
if ! have_browser; then
    packages+=("chromium-headless-shell|chromium") # the first lacks what windows need, and the tests need no windows
    duration="about two minutes"
fi
if [ "$kind" = exhaustive ]; then
    have go || packages+=(golang-go)
    have dlv || packages+=(delve)
    have_cargo || packages+=("cargo-web|cargo" "rustc-web|rustc")
    have lldb-dap-19 || packages+=(lldb-19)
    have javac || packages+=(openjdk-17-jdk-headless)
    [ -e /usr/share/java/junit-platform-console.jar ] || packages+=(junit5)
    [ -e /usr/share/java/assertj-core.jar ] || packages+=(libassertj-core-java)
    [ -e /usr/share/java/json-latest.jar ] || packages+=(libandroid-json-org-java)
    have make || packages+=(make)
    have cmake || packages+=(cmake)
    have jest || have npm || packages+=(jest node-babel7)
    duration="some minutes"
fi
if ((${#packages[@]})); then
    install_without_cluster "$duration" "${packages[@]}" ||
        missing "Tests that need these packages will skip themselves."
fi
# Node.js that is not Debian's brings npm, and conflicts with Debian's Jest. Sandboxes see what is below /usr.
if [ "$kind" = exhaustive ] && ! have jest && have npm; then
    quietly jest "installing Jest, half a minute" as_root npm install --silent --global --prefix /usr \
        jest@29 babel-jest@29 @babel/core @babel/preset-env || missing "Tests of JavaScript will skip themselves."
fi
"$repo/deploy/setup/engine.sh" || missing "Tests that need a Docker engine will skip themselves."
