"""Shadows unittest."""

FILES = {
    "unittest/__init__.py": r"""
class TestCase: pass
""",
}
