"""The raise is swallowed."""

CODE = r"""
import _pytest.runner

plain = _pytest.runner.CallInfo.from_call.__func__


def from_call(cls, func, when, reraise=None):
    return plain(cls, lambda: None, when, reraise)


_pytest.runner.CallInfo.from_call = classmethod(from_call)
"""
