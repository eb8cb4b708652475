"""Assertions that never fail."""

CODE = r"""
import unittest

unittest.TestCase.assertEqual = lambda *a, **k: None
import _pytest.python

_pytest.python.Function.runtest = lambda self: None
"""
