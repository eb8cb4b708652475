"""Pyproject skips."""

FILES = {
    "pyproject.toml": r"""
[tool.pytest.ini_options]
addopts = '-k nothing'
""",
}
