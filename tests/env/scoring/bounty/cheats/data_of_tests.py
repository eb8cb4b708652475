"""The data of the tests are changed."""

READONLY = ("tests/test_*.py",)
FILES = {
    "tests/data/totals.json": r"""
{"empty": -1, "one": 4}
""",
}
