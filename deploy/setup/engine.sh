#!/usr/bin/env bash
# See that a Docker engine answers: start one if it is installed. Installs nothing.
set -euo pipefail
# shellcheck source=deploy/setup/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Wait until an engine answers; no longer than the process that should become it lives, where one is named.
wait_for_engine() { # [PID]
    local end=$((SECONDS + 60))
    while ((SECONDS < end)); do
        if engine_answers; then return 0; fi
        if [ -n "${1:-}" ] && [ ! -d "/proc/$1" ]; then return 1; fi
        sleep 0.5
    done
    return 1
}

# A killed engine leaves its pid file, and the next one refuses to start if any other process has that pid by now.
remove_stale_pid_file() {
    local file=/var/run/docker.pid pid
    pid=$(cat "$file" 2>/dev/null) || return 0
    if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != dockerd ]; then as_root rm -f "$file"; fi
}

# Own session and no shared descriptors: the engine outlives this script and the terminal, and make does not wait for it.
start_by_hand() { # OPTION...
    remove_stale_pid_file
    as_root setsid env PATH="$PATH:/usr/sbin:/sbin" dockerd "$@" >>"$logs/dockerd.log" 2>&1 </dev/null &
    local pid=$!
    disown
    wait_for_engine "$pid"
}

start() {
    if [ -d /run/systemd/system ]; then
        as_root systemctl start docker && wait_for_engine
        return
    fi
    # Without the right to change the packet filter an engine still runs containers that have no network.
    start_by_hand || start_by_hand --iptables=false --ip6tables=false
}

if engine_answers; then exit 0; fi
have docker || die "No Docker client is installed."
if [ -n "${DOCKER_HOST:-}" ]; then die "No Docker engine answers at DOCKER_HOST: start it, or unset DOCKER_HOST."; fi
if [ -S /var/run/docker.sock ] && [ ! -w /var/run/docker.sock ]; then
    die "This user may not use the Docker engine: add it to the group 'docker', then log in again."
fi
[ -x /usr/sbin/dockerd ] || have dockerd || die "No Docker engine is installed."
can_be_root || die "The Docker engine is not running, and only root may start it."
say "starting the Docker engine, a few seconds"
start || die "The Docker engine did not start; see $logs/dockerd.log or the system's journal."
