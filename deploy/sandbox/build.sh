#!/usr/bin/env bash
# Build the sandbox image, unless the one for these files is there. Prints its tag; progress goes to standard error.
# Needs a Docker engine, and a Python >= 3.11 with pip on the host ($PYTHON, default python3).
#
# STACKRANK_BASE_IMAGE   base to use instead of the first one that works; it needs python3 >= 3.11 with venv, and git
#                        unless its containers reach a Debian mirror.
# STACKRANK_PULL_TIMEOUT seconds that pulling a base may take, default 90.
# STACKRANK_IMAGE_NAME   the image's name, default stackrank-sandbox.
# STACKRANK_BUILD_LOG    file that gets the output of the commands, default: a temporary file, shown on failure.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
requirements=$here/../../env/sandbox/requirements.txt
python=${PYTHON:-python3}
# One minor version, that of Debian 12: an image from the registry and one from packages then run the same Python.
registry_base=python:3.11-slim-bookworm
own_base=stackrank-base:bookworm
log=${STACKRANK_BUILD_LOG:-}

say() { echo "$*" >&2; }

if ! timeout 20 docker info >/dev/null 2>&1; then
    say "No Docker engine answers: start one, or let sandboxes use bubblewrap."
    exit 1
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/stackrank-image.XXXXXX")
# shellcheck disable=SC2317  # called by trap
clean_up() { rm -rf "$scratch"; }
trap clean_up EXIT
if [ -z "$log" ]; then log=$scratch/build.log; fi

digest=$(cat "$here/Dockerfile" "$requirements" <(echo "${STACKRANK_BASE_IMAGE:-}") | sha256sum | cut -c1-12)
name=${STACKRANK_IMAGE_NAME:-stackrank-sandbox}
tag=$name:$digest

have_image() { docker image inspect "$1" >/dev/null 2>&1; }

# Wheels are fetched on the host, which has the network and the proxies, for the Python of the image.
fetch_wheels() { # BASE CONTEXT
    local version arch platform platforms=()
    version=$(docker run --rm --network none --entrypoint python3 "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    arch=$(docker run --rm --network none --entrypoint uname "$1" -m)
    for platform in manylinux_2_28 manylinux_2_17 manylinux2014 manylinux_2_12 manylinux2010 manylinux_2_5 manylinux1; do
        platforms+=(--platform "${platform}_$arch")
    done
    "$python" -m pip download --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary=:all: \
        --implementation cp --python-version "$version" "${platforms[@]}" -d "$2/wheels" -r "$requirements"
}

build_from() { # BASE
    local base=$1 context=$scratch/context
    rm -rf "$context"
    mkdir -p "$context/wheels"
    cp "$here/Dockerfile" "$requirements" "$context/"
    # Explicit, because `set -e` does not hold in a function that is called as a condition.
    fetch_wheels "$base" "$context" || return 1
    docker build --build-arg "BASE=$base" --tag "$tag" "$context" || return 1
}

# Fails quickly where no registry is reached; the time limit is for networks that swallow packets.
pull() { have_image "$1" || timeout "${STACKRANK_PULL_TIMEOUT:-90}" docker pull --quiet "$1"; }

make_own_base() { have_image "$own_base" || "$here/make_base.sh" "$own_base"; }

try() { # DESCRIPTION PREPARE BASE
    say "sandbox image: $1"
    { "$2" "$3" && build_from "$3"; } >>"$log" 2>&1 </dev/null
}

build() {
    if [ -n "${STACKRANK_BASE_IMAGE:-}" ]; then
        try "building on $STACKRANK_BASE_IMAGE (STACKRANK_BASE_IMAGE)" pull "$STACKRANK_BASE_IMAGE"
        return
    fi
    # An own base that is already there saves the attempt to pull.
    if have_image "$own_base" && ! have_image "$registry_base"; then
        try "building on $own_base, 15 s" make_own_base "$own_base" && return
    fi
    try "building on $registry_base, about a minute" pull "$registry_base" && return
    try "that base cannot be had; making one from Debian packages, about a minute" make_own_base "$own_base"
}

if ! have_image "$tag"; then
    if ! build; then
        say "The sandbox image could not be built; the last lines of $log:"
        tail -n 15 "$log" >&2
        exit 1
    fi
fi
docker tag "$tag" "$name:latest"
echo "$tag"
