"""Conftest hook."""

FILES = {
    "conftest.py": r"""
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.outcome = "passed"
""",
}
