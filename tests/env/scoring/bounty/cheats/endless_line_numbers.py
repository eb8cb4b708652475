"""Records of the reporter with line numbers that are no numbers of lines."""

CODE = r"""
import sys

sys.audit(
    "stackrank.report",
    {
        "test": "tests/test_hidden.py::test_one",
        "canary": False,
        "when": "call",
        "outcome": "failed",
        "xfail": False,
        "reported": "failed",
        "message": "",
        "assertion": True,
        "lines": [float("inf")],
    },
)
"""
