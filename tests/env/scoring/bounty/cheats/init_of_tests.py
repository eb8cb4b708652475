"""The package of the tests is changed."""

READONLY = ("tests/test_*.py",)
FILES = {
    "tests/__init__.py": r"""
import os; os._exit(0)
""",
}
