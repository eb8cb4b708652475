#!/usr/bin/env bash
# Make this machine ready. Usage: setup.sh demo|test|exhaustive. Does only what is not done yet: about a second when all is.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

kind=${1:-demo}
case $kind in
demo) python=runtime ;;
test) python=dev ;;
exhaustive) python=exhaustive ;;
*)
    echo "usage: setup.sh demo|test|exhaustive" >&2
    exit 2
    ;;
esac
"$here/system.sh" "$kind"
"$here/python.sh" "$python"
"$here/sandbox.sh" "${kind/exhaustive/test}"
if [ "$kind" = exhaustive ]; then
    # In the background: one of them is compiled. The tests that need them wait; what is missing in the end is told there.
    for server in openenv verifiers trainers litellm llama-cpp; do
        setsid nice -n 5 "$here/servers.sh" "$server" </dev/null &
    done
fi
