"""Conftest in a new folder."""

FILES = {
    "tests/conftest.py": r"""
collect_ignore = ['test_hidden.py']
""",
}
