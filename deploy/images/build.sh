#!/usr/bin/env bash
# Build the images stackrank-worker and stackrank-dashboard. Prints their tags; progress goes to standard error.
# Needs a Docker engine, and a Python >= 3.11 with pip on the host ($PYTHON, default .venv's or python3):
# the wheels are fetched on the host, which has the network and the proxies, for the Python of the base image.
#
# STACKRANK_BASE_IMAGE   base of both, default python:3.11-slim-bookworm; it needs python3 >= 3.11 with venv.
#                        Where no registry is reached: stackrank-base:bookworm, made by deploy/sandbox/make_base.sh.
# STACKRANK_IMAGE_TAG    tag, default latest.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
base=${STACKRANK_BASE_IMAGE:-python:3.11-slim-bookworm}
tag=${STACKRANK_IMAGE_TAG:-latest}
python=${PYTHON:-$repo/.venv/bin/python}
[ -x "$(command -v "$python")" ] || python=python3

say() { echo "$*" >&2; }

context=$(mktemp -d "${TMPDIR:-/tmp}/stackrank-images.XXXXXX")
# shellcheck disable=SC2317  # called by trap
clean_up() { rm -rf "$context"; }
trap clean_up EXIT

inside() { docker run --rm --network none --entrypoint python3 "$base" -c "$1"; }

version=$(inside 'import sys; print("%d.%d" % sys.version_info[:2])')
arch=$(inside 'import platform; print(platform.machine())')
markers=$(inside 'import json, os, platform, sys; print(json.dumps({
    "implementation_name": "cpython", "implementation_version": platform.python_version(), "os_name": os.name,
    "platform_machine": platform.machine(), "platform_python_implementation": platform.python_implementation(),
    "platform_system": platform.system(), "platform_release": "", "platform_version": "",
    "python_full_version": platform.python_version(), "python_version": "%d.%d" % sys.version_info[:2],
    "sys_platform": sys.platform, "extra": ""}))')
platforms=()
for platform in manylinux_2_28 manylinux_2_27 manylinux_2_24 manylinux_2_17 manylinux2014 manylinux_2_12 manylinux2010 \
    manylinux_2_5 manylinux1; do
    platforms+=(--platform "${platform}_$arch")
done

"$python" "$here/requirements_for.py" "$repo/requirements.txt" "$markers" >"$context/requirements.txt"

say "fetching wheels for Python $version, about a minute"
"$python" -m pip download --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary=:all: \
    --implementation cp --python-version "$version" "${platforms[@]}" -d "$context/wheels" \
    -r "$context/requirements.txt" >&2
# What builds it is among the wheels.
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --find-links "$context/wheels" \
    -w "$context/wheels" "$repo" >&2
cp "$here/Dockerfile" "$here/entrypoint.sh" "$context/"

for image in worker dashboard; do
    say "building stackrank-$image:$tag on $base"
    docker build --quiet --network none --build-arg "BASE=$base" --target "$image" --tag "stackrank-$image:$tag" \
        "$context" >&2
    echo "stackrank-$image:$tag"
done
