"""The tests' functions are emptied when they are first called."""

AFTER = r"""
def total(items):
    hollow()
    return 0
"""

CODE = r"""
import gc, types


def empty():
    pass


def hollow():
    for each in gc.get_objects():
        if isinstance(each, types.FunctionType) and each.__name__.startswith("test_"):
            if not each.__code__.co_freevars and not each.__code__.co_argcount:
                each.__code__ = empty.__code__
"""
