#!/usr/bin/env bash
# Make this machine ready. Usage: setup.sh demo|test. Does only what is not done yet: about a second when all is.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

kind=${1:-demo}
case $kind in
demo) python=runtime ;;
test) python=dev ;;
*)
    echo "usage: setup.sh demo|test" >&2
    exit 2
    ;;
esac
"$here/system.sh" "$kind"
"$here/python.sh" "$python"
"$here/sandbox.sh" "$kind"
