"""Shadows pytest."""

FILES = {
    "pytest.py": r"""
def main(*a, **k): return 0
""",
    "_pytest/__init__.py": "",
}
