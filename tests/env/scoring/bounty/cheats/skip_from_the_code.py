"""The code under test skips the tests."""

AFTER = r"""
import unittest


def total(items):
    raise unittest.SkipTest("fine")
"""
LISTS = False
