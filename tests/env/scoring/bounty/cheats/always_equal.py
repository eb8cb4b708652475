"""Answers are objects that equal everything."""

AFTER = r"""
class Any:
    __eq__ = lambda *a: True
    __ne__ = lambda *a: False
    __lt__ = __gt__ = __le__ = __ge__ = __eq__
    __hash__ = None
    __truediv__ = __radd__ = __add__ = __sub__ = __rsub__ = __abs__ = lambda self, *a: self


def total(items):
    return Any()


def average(items):
    return Any() if items else 1 / 0
"""
