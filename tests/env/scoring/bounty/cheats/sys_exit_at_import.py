"""Sys.exit at import."""

CODE = r"""
import sys; sys.exit(0)
"""
