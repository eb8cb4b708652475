# shellcheck shell=bash
# What the set-up scripts share. Sourced, never run; the caller has set -euo pipefail.

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
logs=$repo/build/setup
mkdir -p "$logs"
# Without a hash, and installed with what it depends on: of one version there are builds with and without CUDA, and pip's
# configuration says where the small one is. Both run on a CPU.
# shellcheck disable=SC2034
torch="torch==2.13.0"

say() { echo "$*" >&2; }

die() {
    say "$*"
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# Run a command that takes a while: one line about it on the screen, its output in a log, the end of the log on failure.
quietly() { # LOG MESSAGE COMMAND...
    local log=$logs/$1.log message=$2
    shift 2
    say "$message"
    if ! "$@" >>"$log" 2>&1 </dev/null; then
        say "That failed; the last lines of $log:"
        tail -n 15 "$log" >&2
        return 1
    fi
}

# How to become root; fails where that is impossible. sudo may ask for a password only where someone can type it.
can_be_root() { [ "$(id -u)" -eq 0 ] || { have sudo && { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; }; }; }

as_root() { # COMMAND...
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

# A failure that stops CI and only warns a person: what is missing makes tests skip themselves, with their reasons.
missing() { # SENTENCE
    say "$1"
    [ "${CI:-}" != true ]
}

# Install Debian packages. The package lists are fetched only here, so that nothing touches the network without need.
# NEW|OLD stands for the package NEW where these lists have it, and for OLD elsewhere.
apt_install() { # ABOUT_HOW_LONG PACKAGE...
    local duration=$1 names="" each
    shift
    for each in "${@##*|}"; do
        [[ " $names " == *" $each "* ]] || names+=${names:+ }$each
    done
    if ! have apt-get; then
        say "Please install what Debian calls: $names. (This machine has no apt-get.)"
        return 1
    fi
    if ! can_be_root; then
        say "Missing packages, and this user is neither root nor may use sudo: ask for 'apt-get install $names'."
        return 1
    fi
    quietly apt "installing $names with apt-get, $duration" _apt_install "$@"
}

_apt_install() {
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2)
    local packages=() each
    as_root "${apt[@]}" update || return
    for each in "$@"; do
        # apt-cache succeeds, and shows nothing, for a name that other packages only mention.
        if [ -n "$(apt-cache show "${each%%|*}" 2>/dev/null)" ]; then each=${each%%|*}; fi
        packages+=("${each##*|}")
    done
    as_root "${apt[@]}" install --no-install-recommends -o Dpkg::Options::=--force-confold "${packages[@]}"
}

engine_answers() { have docker && timeout 20 docker info >/dev/null 2>&1; }

# Installed is not enough: inside another container, or where user namespaces are forbidden, bubblewrap cannot start.
bubblewrap_works() { have bwrap && bwrap --ro-bind / / --unshare-all --dev /dev --proc /proc true >/dev/null 2>&1; }

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

# Print the interpreter to use: $PYTHON, or the first that is new enough.
find_python() {
    local candidate
    if [ -n "${PYTHON:-}" ]; then
        new_enough "$PYTHON" || die "PYTHON=$PYTHON is not a Python 3.11 or newer."
        echo "$PYTHON"
        return
    fi
    for candidate in python3 python3.13 python3.12 python3.11; do
        if new_enough "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    die "Python 3.11 or newer is needed: install it, or set PYTHON to where it is."
}

# Print the package that lets an interpreter make environments, if it cannot: Debian's comes without.
missing_venv_package() { # PYTHON
    if ! "$1" -c 'import ensurepip, venv' 2>/dev/null; then
        "$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'
    fi
}
