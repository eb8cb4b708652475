#!/usr/bin/env bash
# Secrets come as files: NAME_FILE=/run/secrets/... becomes NAME, for the names that stackrank and its parts read.
set -euo pipefail

for variable in $(env | sed -n 's/^\(\(STACKRANK\|PREFECT\|OPENAI\|ANTHROPIC\|AZURE\)_[A-Z0-9_]*\)_FILE=.*/\1/p'); do
    file=$(printenv "${variable}_FILE")
    if [ ! -r "$file" ]; then
        echo "error: ${variable}_FILE names $file, which cannot be read: mount the secret there." >&2
        exit 2
    fi
    export "$variable=$(cat "$file")"
    unset "${variable}_FILE"
done
exec "$@"
