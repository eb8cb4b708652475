"""Skips itself."""

CODE = r"""
import pytest; pytest.skip('fine', allow_module_level=True)
"""
