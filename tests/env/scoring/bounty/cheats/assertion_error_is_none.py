"""AssertionError becomes something that is caught."""

CODE = r"""
import builtins


class AssertionError(Exception):
    def __new__(cls, *a):
        raise SystemExit(0)


builtins.AssertionError = AssertionError
"""
