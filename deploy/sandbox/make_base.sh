#!/usr/bin/env bash
# Make a base image from Debian packages, for machines that reach a Debian mirror and no image registry.
# Usage: make_base.sh [TAG [PACKAGE...]], the packages beside Python and git. Needs root or sudo, debootstrap, and a
# Docker engine. Takes about a minute.
set -euo pipefail

tag=${1:-stackrank-base:bookworm}
packages=(python3 python3-venv git ca-certificates)
suite=bookworm
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
        echo "debootstrap needs root: run 'sudo deploy/sandbox/make_base.sh', or set STACKRANK_BASE_IMAGE to an image with Python and git." >&2
        exit 1
    fi
    as_root=(sudo -n)
fi
# debootstrap lies in /usr/sbin, which is not on the path of every user.
PATH=$PATH:/usr/sbin:/sbin
if ! command -v debootstrap >/dev/null; then
    echo "debootstrap is missing: 'apt-get install debootstrap'." >&2
    exit 1
fi

root=$(mktemp -d "${TMPDIR:-/tmp}/stackrank-base.XXXXXX")
# shellcheck disable=SC2317  # called by trap
clean_up() {
    if mountpoint -q "$root/proc"; then "${as_root[@]}" umount "$root/proc"; fi
    "${as_root[@]}" rm -rf --one-file-system "$root"
}
trap clean_up EXIT

options=(--variant=minbase "--include=$(IFS=, && echo "${packages[*]}")")
# On Ubuntu debootstrap does not look for Debian's keys by itself.
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
if [ -f "$keyring" ]; then options+=("--keyring=$keyring"); fi
mirror=()
if [ -n "${STACKRANK_DEBIAN_MIRROR:-}" ]; then mirror=("$STACKRANK_DEBIAN_MIRROR"); fi

"${as_root[@]}" debootstrap "${options[@]}" "$suite" "$root" "${mirror[@]}"
if (($# > 1)); then
    # apt knows what debootstrap does not: alternatives, and packages that take the place of others.
    "${as_root[@]}" cp /etc/resolv.conf "$root/etc/resolv.conf"
    "${as_root[@]}" mount -t proc proc "$root/proc" # Java's packages run it while they are installed
    "${as_root[@]}" chroot "$root" apt-get update -qq
    "${as_root[@]}" chroot "$root" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${@:2}"
    "${as_root[@]}" umount "$root/proc"
fi
# Package archives, manuals and translations are most of what a sandbox never reads.
"${as_root[@]}" tar -C "$root" -c \
    --exclude='./var/cache/apt/*' --exclude='./var/lib/apt/lists/*' --exclude='./var/log/*' \
    --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' \
    --exclude='./debootstrap' . |
    docker import --change 'CMD ["python3"]' - "$tag"
