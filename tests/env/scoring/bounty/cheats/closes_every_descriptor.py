"""Closes every descriptor."""

CODE = r"""
import os; os.closerange(3, 1000)
"""
