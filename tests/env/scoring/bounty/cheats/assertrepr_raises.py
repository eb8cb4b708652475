"""What formats failed comparisons ends the process well."""

CODE = r"""
import os

import _pytest.assertion
import _pytest.assertion.util as util


def nothing(*a, **k):
    os._exit(0)


util.assertrepr_compare = util._reprcompare = nothing
_pytest.assertion.pytest_assertrepr_compare = nothing
"""
