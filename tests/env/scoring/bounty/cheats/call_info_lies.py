"""Every call is said to have raised nothing."""

CODE = r"""
import _pytest.runner

_pytest.runner.CallInfo.excinfo = property(lambda self: None, lambda self, value: None)
"""
