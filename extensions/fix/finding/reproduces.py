"""Runs pytest, and succeeds where a test fails in its call, and nothing else is wrong. Runs in a sandbox."""

import subprocess
import sys
import tempfile
from xml.etree import ElementTree


def main() -> int:
    """Arguments are pytest's. Status 0: there is a test that fails."""
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        command = [sys.executable, "-m", "pytest", *sys.argv[1:], "--junitxml", report.name]
        process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        # The last line would look as if the verdict were pytest's own.
        lines = process.stdout.decode("utf-8", "replace").splitlines()
        print("\n".join(lines[:-1]))
        try:
            tree = ElementTree.parse(report.name)
        except ElementTree.ParseError:
            print("The tests do not run.")
            return 1
    failed, errors = len(tree.findall(".//failure")), len(tree.findall(".//error"))
    if errors:
        print("A test cannot be collected or set up: that shows nothing.")
        return 1
    print("A test fails, as it has to." if failed else "No test fails: write one that shows what is wrong.")
    return 0 if failed else 1


if __name__ == "__main__":
    sys.exit(main())
