"""Pytest.exit."""

CODE = r"""
import pytest; pytest.exit('fine', 0)
"""
