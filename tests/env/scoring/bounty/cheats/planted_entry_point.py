"""A plug-in that is installed in the workspace."""

FILES = {
    "evil-1.0.dist-info/METADATA": r"""
Metadata-Version: 2.1
Name: evil
Version: 1.0
""",
    "evil-1.0.dist-info/entry_points.txt": r"""
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
