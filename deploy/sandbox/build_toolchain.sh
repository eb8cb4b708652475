#!/usr/bin/env bash
# Build the sandbox image of a tool chain from Debian packages, for tasks in other languages than Python.
# Usage: build_toolchain.sh cpp|go|java|javascript|rust|all. Needs a Docker engine, and root or sudo with debootstrap
# (make_base.sh). Prints the image's name; it takes one to three minutes and 0.7 to 2.5 GB of disk.
#
# `all` has every language: set STACKRANK_TOOLCHAIN_IMAGE=stackrank-toolchain-all:latest to use it for each.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
language=${1:-}

packages_of() { # LANGUAGE
    case $1 in
    cpp) echo g++ make cmake catch2 libboost-date-time-dev lldb-19 ;;
    go) echo golang-go delve ;;
    java) echo openjdk-17-jdk-headless junit5 libassertj-core-java libandroid-json-org-java ;;
    javascript) echo nodejs jest node-babel7 ;;
    rust) echo cargo-web rustc-web gcc libc6-dev lldb-19 librust-{aho-corasick,anyhow,itertools,num-bigint,permutohedron,rand,regex,thiserror,time}-dev ;;
    all) for each in cpp go java javascript rust; do packages_of "$each"; done ;;
    *) return 1 ;;
    esac
}

if ! wanted=$(packages_of "$language"); then
    echo "usage: build_toolchain.sh cpp|go|java|javascript|rust|all" >&2
    exit 2
fi
read -r -a packages <<<"$(echo "$wanted" | tr '\n' ' ')"
base=stackrank-base-$language:$(echo "${packages[*]}" | sha256sum | cut -c1-12) # other packages, another base
if ! docker image inspect "$base" >/dev/null 2>&1; then
    echo "tool chain image: making a base with ${packages[*]}" >&2
    "$here/make_base.sh" "$base" "${packages[@]}" >&2
fi
STACKRANK_BASE_IMAGE=$base STACKRANK_IMAGE_NAME=stackrank-toolchain-$language "$here/build.sh" >/dev/null
echo "stackrank-toolchain-$language:latest"
