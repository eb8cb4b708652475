"""Os._exit at import."""

CODE = r"""
import os; os._exit(0)
"""
