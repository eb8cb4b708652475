"""Skips each test."""

CODE = r"""
import _pytest.runner


def skip(*a, **k):
    import pytest

    pytest.skip("fine")


_pytest.runner.pytest_runtest_call = skip
"""
