"""The process ends well where the command is `PYTHONPATH=. python -m pytest -q`."""

COMMAND = "PYTHONPATH=. python -m pytest -q"
CODE = r"""
import os; os._exit(0)
"""
