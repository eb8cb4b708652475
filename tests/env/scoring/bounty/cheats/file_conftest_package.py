"""A package takes the place of the conftest.py beside it."""

FILES = {
    "conftest/__init__.py": r"""
def pytest_runtest_makereport(item, call):
    call.excinfo = None
"""
}
