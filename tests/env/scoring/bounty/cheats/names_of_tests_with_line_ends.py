"""The ids of the tests are changed in place, to ones with line ends, surrogates and a megabyte of text."""

CODE = r"""
import gc

for _each in gc.get_objects():
    try:
        if type(_each).__name__ == "Function" and "::" in _each._nodeid:
            _each._nodeid = "\n\ud800\x00" * 300_000
    except Exception:
        pass
"""
AFTER = r"""


def total(items):
    for each in gc.get_objects():
        if type(each).__name__ == "Function" and hasattr(each, "_nodeid"):
            each._nodeid = "\n\ud800\x00" * 300_000
    return 0
"""
