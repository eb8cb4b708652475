# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Bills for telephone calls."""
from .numbers import BadNumber, Number, parse
from .totals import Bill, bill

__all__ = ["BadNumber", "Bill", "Number", "bill", "parse"]
