#!/usr/bin/env bash
# The virtual environment .venv. Usage: python.sh runtime|dev|exhaustive
#
# What is exhaustive is dev and the extra trl, with which docs/examples/train_grpo.py trains a model.
#
# $PYTHON chooses the interpreter, 3.11 or newer. pip's own configuration (an index of your own, a proxy) holds; the
# hashes in the requirement files see to it that the files are the same wherever they come from.
set -euo pipefail
# shellcheck source=deploy/setup/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$repo"

kind=${1:-runtime}
case $kind in
runtime) requirements=requirements.txt duration="about a minute and a half" ;;
dev | exhaustive) requirements=requirements-dev.txt duration="about two minutes" ;;
*) die "usage: python.sh runtime|dev|exhaustive" ;;
esac
venv=$repo/.venv

# The stamp says for which files this environment was made; pyproject.toml counts because the command line's entry point
# is written from it. An environment with the development tools serves both kinds.
stamp_of() { # KIND
    local file=requirements-dev.txt
    if [ "$1" = runtime ]; then file="requirements.txt"; fi
    cat "$file" pyproject.toml | sha256sum | cut -d' ' -f1
}

is_current() { # KIND
    [ -x "$venv/bin/python" ] && [ -x "$venv/bin/stackrank" ] &&
        [ "$(cat "$venv/.stackrank-$1" 2>/dev/null)" = "$(stamp_of "$1")" ]
}

all_done() { is_current "$kind" || { [ "$kind" = runtime ] && is_current dev; }; }

# The development tools come first, each time that they or the project changed: it begins the environment anew.
if [ "$kind" = exhaustive ]; then "${BASH_SOURCE[0]}" dev; fi
if all_done; then exit 0; fi
# One at a time: two terminals may say `make` at once.
exec 9>"$logs/python.lock"
if have flock; then flock 9; fi
if all_done; then exit 0; fi

pip=("$venv/bin/python" -m pip --disable-pip-version-check --no-input)
if [ "$kind" = exhaustive ]; then
    quietly python "installing the extra trl into .venv, about half a minute" \
        "${pip[@]}" install --no-compile --no-build-isolation -e ".[trl]" "$torch"
    stamp_of exhaustive >"$venv/.stackrank-exhaustive"
    exit 0
fi

python=$(find_python)
package=$(missing_venv_package "$python")
if [ -n "$package" ]; then apt_install "a few seconds" "$package" || exit 1; fi

rm -f "$venv"/.stackrank-*
# One made from a Python that is gone, or that is another minor version than is asked for now, cannot be brought up to date.
if ! { [ -x "$venv/bin/python" ] && new_enough "$venv/bin/python" && [ -z "${PYTHON:-}" ]; }; then
    rm -rf "$venv"
    quietly python "making the virtual environment with $python" "$python" -m venv "$venv"
fi
# pip unpacks one file after the other, on one processor: two of them halve the time.
install_halves() {
    local halves
    halves=$(mktemp -d)
    awk -v folder="$halves" '/^[^ #]/ { number++ } { print > (folder "/" number % 2) }' "$requirements"
    printf '%s\n' "$halves"/* | xargs -P 2 -I {} "${pip[@]}" install --require-hashes --no-deps --no-compile -r {}
    local status=$?
    rm -rf "$halves"
    return $status
}
quietly python "installing $requirements into .venv, $duration" install_halves
# Nothing is compiled ahead: of 24,000 files, a tenth is ever imported.
quietly python "installing stackrank itself" \
    "${pip[@]}" install --no-deps --no-build-isolation --no-index -e .
stamp_of "$kind" >"$venv/.stackrank-$kind"
