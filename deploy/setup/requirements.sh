#!/usr/bin/env bash
# Pin the dependencies anew, for every platform and for Python 3.11 and later.
# Usage: requirements.sh [--upgrade]. Without --upgrade a pin stays where it is as long as pyproject.toml allows it.
#
# pip's configuration is left out on purpose: the hashes have to be those of the public index, and no address of anyone's
# own index may end up in the files.
set -euo pipefail
# shellcheck source=deploy/setup/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$repo"

unset "${!PIP_@}" "${!UV_@}"
pin() { # INPUT OUTPUT OPTION...
    local input=$1 output=$2
    shift 2
    # --no-header: the header repeats the command line, and with it options of one machine.
    .venv/bin/uv --no-config pip compile --quiet --universal --python-version 3.11 --generate-hashes --strip-extras \
        --no-emit-index-url --no-emit-find-links --no-header --no-annotate "$@" "$input" deploy/setup/build.in -o "$output"
}

pin pyproject.toml requirements.txt --extra all "$@"
# The demo has every feature; the development file holds the runtime's pins and more, so that one installation serves both.
pin pyproject.toml requirements-dev.txt --extra dev --constraint requirements.txt "$@"
.venv/bin/uv --no-config pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
    --no-header --no-annotate "$@" deploy/sandbox/requirements.in -o env/sandbox/requirements.txt
# Its test runs in an environment of its own, with stackrank's dependencies as verifiers needs them.
pin pyproject.toml deploy/setup/requirements-verifiers.txt --extra verifiers "$@"
# Without torch: of one version there are builds with and without CUDA, and servers.sh installs either.
echo 'torch ; sys_platform == "never"' >build/no-torch.txt
pin pyproject.toml deploy/setup/requirements-trainers.txt deploy/setup/requirements-trainers.in \
    --override build/no-torch.txt --no-emit-package torch "$@"
for server in openenv litellm llama-cpp-build llama-cpp trainers-build; do
    # Without build.in: it is about building this project.
    .venv/bin/uv --no-config pip compile --quiet --universal --python-version 3.11 --generate-hashes --strip-extras \
        --no-emit-index-url --no-emit-find-links --no-header --no-annotate "$@" \
        "deploy/setup/requirements-$server.in" -o "deploy/setup/requirements-$server.txt"
done
