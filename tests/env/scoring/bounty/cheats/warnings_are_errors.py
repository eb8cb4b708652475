"""Whatever warns from now on raises, and everything that is shown or compared warns."""

CODE = r"""
import builtins
import warnings

warnings.simplefilter("error")
_repr = builtins.repr


def repr(each):
    warnings.warn("no")
    return _repr(each)


builtins.repr = repr
builtins.print = repr
builtins.len = None
builtins.isinstance = lambda *_: True
"""
