"""Runs pytest inside the sandbox with the plug-ins that a measurement names.

They are handed over as objects, as when tests are judged. `pytest -p NAME` goes through parts of pytest's plug-in
manager that nothing else uses, and these may be the program with the bug.
"""

import importlib
import json
import os
import sys

import pytest

if __name__ == "__main__":
    names = json.loads(os.environ["MEASUREMENT"])["plugins"]
    sys.argv[0] = "pytest"
    sys.exit(pytest.main(sys.argv[1:], plugins=[importlib.import_module(name) for name in names]))
