"""A new test file beside the others names a plug-in."""

READONLY = ()
FILES = {
    "tests/test_all.py": r"""
pytest_plugins = ['evil']
""",
    "evil.py": r"""
import pytest


@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_runtest_call(item):
    outcome = yield
    outcome.force_result(None)
""",
}
