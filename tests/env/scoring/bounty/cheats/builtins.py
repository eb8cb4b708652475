"""Builtins."""

CODE = r"""
import builtins

builtins.AssertionError = type("AssertionError", (BaseException,), {})
builtins.sum = lambda *a: 3
"""
