"""Answers whose texts have tens of millions of characters that no database takes."""

AFTER = r"""
class A(float):
    def __repr__(self):
        return "\ud800\x00" * 30_000_000
    __str__ = __repr__
_t, _a = total, average
def total(items): return A(_t(items))
def average(items): return A(_a(items))
"""
