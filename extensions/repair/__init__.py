"""`repair`: an agent without a model. It localises the fault, proposes small changes and tests them.

The operators that make these changes belong in `env/mutation`.
"""

from stackrank.extensions.repair.agent import Repair

__all__ = ["Repair"]
