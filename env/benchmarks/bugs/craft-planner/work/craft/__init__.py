# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The planner of the craft hall."""
from .book import Book, UnknownItem
from .hall import Shift, shifts
from .planner import Plan, plan
from .reader import BadRecipes, Recipe, read

__all__ = ["BadRecipes", "Book", "Plan", "Recipe", "Shift", "UnknownItem", "plan", "read", "shifts"]
