#!/usr/bin/env bash
# A model server or a client of others for the tests, in an environment of its own below the home folder: it depends on
# other versions than stackrank does. Usage: servers.sh litellm|llama-cpp|openenv|verifiers|trainers
#
# llama-cpp-python has to be compiled, which takes some minutes of a processor, once: pip keeps the wheel in its cache.
# Tests wait for the lock, so that this can run beside what needs no server.
set -euo pipefail
# shellcheck source=deploy/setup/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$repo"

name=${1:-}
case $name in
litellm) requirements=(deploy/setup/requirements-litellm.txt) duration="about a minute" ;;
openenv) requirements=(deploy/setup/requirements-openenv.txt) duration="about a minute" ;;
verifiers) requirements=(deploy/setup/requirements-verifiers.txt) duration="some minutes, for it brings a gigabyte" ;;
trainers)
    # The first builds what the second has as source only.
    requirements=(deploy/setup/requirements-trainers-build.txt deploy/setup/requirements-trainers.txt)
    duration="some minutes, for it brings torch"
    ;;
llama-cpp)
    # The first brings the tools that compile the second.
    requirements=(deploy/setup/requirements-llama-cpp-build.txt deploy/setup/requirements-llama-cpp.txt)
    duration="some minutes, for it is compiled"
    ;;
*) die "usage: servers.sh litellm|llama-cpp|openenv|verifiers|trainers" ;;
esac

python=$repo/.venv/bin/python
home=$("$python" -c 'from stackrank.home import home; print(home())')/test-servers
venv=$home/$name
mkdir -p "$home"
# One at a time: two terminals may say `make test` at once.
exec 9>"$venv.lock"
if have flock; then flock 9; fi

stamp=$("$python" -c 'import sys; print(sys.base_prefix, sys.version)' | cat - "${requirements[@]}" | sha256sum | cut -d' ' -f1)
if [ -x "$venv/bin/python" ] && [ "$(cat "$venv/.stackrank" 2>/dev/null)" = "$stamp" ]; then exit 0; fi
if [ "$name" = llama-cpp ]; then have g++ || die "llama-cpp-python is compiled: install g++."; fi

export CMAKE_ARGS="-DCMAKE_PROJECT_INCLUDE=$repo/deploy/setup/llama-cpp.cmake" PATH=$venv/bin:$PATH
rm -rf "$venv"
quietly "$name" "making the environment of the test server $name, $duration" "$python" -m venv "$venv"
# Python compiles what is imported; most of what they bring never is.
for file in "${requirements[@]}"; do
    quietly "$name" "installing ${file##*/}" "$venv/bin/python" -m pip --disable-pip-version-check --no-input \
        install --require-hashes --no-deps --no-build-isolation --no-compile -r "$file"
done
if [ "$name" = trainers ]; then
    quietly "$name" "installing torch" "$venv/bin/python" -m pip --disable-pip-version-check --no-input \
        install --no-compile "$torch"
fi
echo "$stamp" >"$venv/.stackrank"
