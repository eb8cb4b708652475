"""Setup.cfg plugin."""

FILES = {
    "setup.cfg": r"""
[tool:pytest]
addopts = -p evil
""",
    "evil.py": r"""
import os; os._exit(0)
""",
}
