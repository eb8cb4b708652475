import pytest

pytest_plugins = [
    "tests.support.session",
    "tests.support.databases",
    *(f"tests.fixtures.{room}" for room in ("env", "agents", "db", "flows", "dashboard")),
]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes the golden files again."""
    parser.addoption("--write-golden", action="store_true", help="Write the files in tests/golden again.")
