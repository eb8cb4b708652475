#!/bin/sh
# Puts the tests back, runs them, and writes the reward: 1 if all that have to pass do, else 0.
tests=${TESTS:-/tests} logs=${LOGS:-/logs/verifier}
mkdir -p "$logs"
echo 0 > "$logs/reward.txt"
cd "${WORKSPACE:-/workspace}" || exit 1
for part in visible hidden; do
    [ -d "$tests/$part" ] && cp -R "$tests/$part/." .
done
rm -f "$logs/outcomes.json"
# Where every Python finds the plug-in: PYTHONPATH belongs to the command, which may set it, or ignore it (-I).
for python in python python3; do
    packages=$("$python" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))') || continue
    mkdir -p "$packages" && cp "$tests/stackrank_outcomes.py" "$packages/"
done
export OUTCOMES="$logs/outcomes.json" PYTEST_PLUGINS=stackrank_outcomes
sh "$tests/command.sh"
python -I "$tests/stackrank_outcomes.py" "$?" "$tests/lists.json" "$OUTCOMES" > "$logs/reward.txt"
