"""Code of the runner with globals of its own."""

CODE = r"""
import _pytest.runner, types

evil = types.FunctionType(_pytest.runner.pytest_runtest_call.__code__, {}, "x")
"""
