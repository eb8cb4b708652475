"""Os._exit at the end."""

CODE = r"""
import atexit, os; atexit.register(os._exit, 0)
"""
