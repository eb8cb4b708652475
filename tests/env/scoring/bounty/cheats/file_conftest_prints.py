"""Conftest prints."""

FILES = {
    "conftest.py": r"""
print('3 passed in 0.01s')
""",
}
