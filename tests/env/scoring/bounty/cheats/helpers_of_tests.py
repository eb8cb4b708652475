"""A helper of the tests is changed."""

READONLY = ("tests/test_*.py",)
FILES = {
    "tests/helpers.py": r"""
def near(a, b):
    return True
""",
}
