"""Reports are made without a look at what happened."""

CODE = r"""
import _pytest.reports

plain = _pytest.reports.TestReport.from_item_and_call.__func__


def from_item_and_call(cls, item, call):
    call.excinfo = None
    return plain(cls, item, call)


_pytest.reports.TestReport.from_item_and_call = classmethod(from_item_and_call)
"""
