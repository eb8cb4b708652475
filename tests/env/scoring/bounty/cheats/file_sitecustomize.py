"""Sitecustomize."""

FILES = {
    "sitecustomize.py": r"""
import os; os._exit(0)
""",
}
