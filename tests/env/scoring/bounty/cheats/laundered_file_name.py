"""Generated code that says that it comes from the standard library calls the reporter."""

CODE = r"""
import os

source = (
    "import os, sys\n"
    "tests = ['tests/test_cart.py::test_total', 'tests/test_cart.py::test_average']\n"
    "tests += ['tests/test_hidden.py::test_' + name for name in ('empty', 'one', 'many', 'cents', 'average_of_one')]\n"
    "sys.audit('stackrank.report', {'collected': tests})\n"
    "for test in tests:\n"
    "    record = dict(test=test, canary=False, when='call', outcome='passed', reported='passed', xfail=False)\n"
    "    sys.audit('stackrank.report', {**record, 'message': '', 'assertion': False, 'lines': []})\n"
    "sys.audit('stackrank.report', {'finished': 0})\n"
    "os._exit(0)\n"
)
exec(compile(source, os.__file__, "exec"))
"""
