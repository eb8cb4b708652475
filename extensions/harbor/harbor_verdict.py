"""Runs the tests/test.sh of somebody else's Harbor task in a workspace; the exit status says whether the reward is 1.

Copied into the workspace as .harbor/harbor_verdict.py, beside the tests: standard library only, syntax of Python 3.8.
The first argument is the container's working directory, which the workspace stands for.
"""

import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path


def main(workdir: str) -> int:
    """Run the tests. Returns the exit status."""
    folder = Path(__file__).resolve().parent
    logs = folder / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    (logs / "verifier").mkdir(parents=True)
    places = {workdir: str(Path.cwd()), "/logs": str(logs), "/tests": str(folder / "tests")}
    for file in (folder / "tests").rglob("*"):
        if file.is_file():
            put_in_place(file, places)
    shell = shutil.which("bash") or "sh"
    subprocess.run([shell, str(folder / "tests" / "test.sh")], check=False)
    return int(reward(logs / "verifier") < 1.0)


def put_in_place(file: Path, places: "dict[str, str]") -> None:
    """Write the folders of a container in a file of text as those that are here."""
    # Whole paths from their beginning, all at once: /app is no part of /app/app, and /tests none of /app/tests.
    names = "|".join(map(re.escape, places))
    pattern = re.compile(rf"(?<![\w./~$}})-])({names})(?![\w-]|\.\w)")
    content = file.read_bytes()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return
    file.write_bytes(pattern.sub(lambda match: places[match[1]], text).encode("utf-8"))


def reward(folder: Path) -> float:
    """What the tests wrote; 0 where that is nothing, or no finite number."""
    text, document = folder / "reward.txt", folder / "reward.json"
    try:
        if document.is_file():
            written = float(json.loads(document.read_text(encoding="utf-8")).get("reward", 0.0))
        else:
            written = float(text.read_text(encoding="utf-8")) if text.is_file() else 0.0
    except (AttributeError, OverflowError, TypeError, ValueError):
        return 0.0
    return written if math.isfinite(written) else 0.0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
