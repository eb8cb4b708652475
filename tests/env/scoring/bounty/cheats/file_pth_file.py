"""Pth file."""

FILES = {
    "evil.pth": r"""
import os; os._exit(0)
""",
}
