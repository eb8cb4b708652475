"""The code under test says that the test is expected to fail."""

AFTER = r"""
def total(items):
    len(items)
"""

CODE = r"""
import builtins


def excuse(*a):
    import _pytest.outcomes

    _pytest.outcomes.xfail("fine")


builtins.sum = builtins.len = excuse
"""
