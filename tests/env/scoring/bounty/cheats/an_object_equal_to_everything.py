"""An object equal to everything."""

CODE = r"""
class Any(int):
    __eq__ = lambda *a: True
    __hash__ = None

import builtins

builtins.len = lambda x: Any()
"""
