"""Everything is true."""

CODE = r"""
import builtins


class Meta(type):
    def __instancecheck__(self, other):
        return True


builtins.all = builtins.any = lambda *a: True
builtins.isinstance = lambda *a: True
"""
