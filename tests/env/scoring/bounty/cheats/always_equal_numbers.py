"""Answers are numbers that equal everything."""

AFTER = r"""
class Any(float):
    __eq__ = lambda *a: True
    __ne__ = lambda *a: False
    __hash__ = None


def total(items):
    return Any(len(items))


def average(items):
    return Any(1) if items else 1 / 0
"""
