"""The specification of a run: its fields, what is wrong with one, what it may name, and its reference page.

Nothing here loads tasks or starts anything; that belongs in `preparing/`.
"""
