"""Tests with names that no database takes, and too many of them."""

CODE = r"""
import sys

sys.audit("stackrank.report", {"collected": ["\0", "\ud800", *map(str, range(100000))]})
sys.audit("stackrank.report", {"collect_error": "\ud800", "message": "\0"})
"""
