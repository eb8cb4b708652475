"""What it raises cannot be shown, compared or ended: each try raises again, or prints without an end."""

AFTER = r"""


class _Odd(Exception):
    def __str__(self):
        raise KeyboardInterrupt

    __repr__ = __str__
    __traceback__ = property(__str__)
    __cause__ = property(__str__)
    __context__ = property(__str__)

    @property
    def __class__(self):
        raise SystemExit(0)


def total(items):
    raise _Odd("\ud800" * 1000)


average = total
"""
