"""A plug-in that is installed in the workspace, the old way."""

FILES = {
    "evil.egg-info/PKG-INFO": r"""
Metadata-Version: 2.1
Name: evil
Version: 1.0
""",
    "evil.egg-info/entry_points.txt": r"""
[pytest11]
evil = evil
""",
    "evil.py": r"""
import pytest


@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_runtest_call(item):
    outcome = yield
    outcome.force_result(None)
""",
}
