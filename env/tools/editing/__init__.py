"""Tools that change files, and the difference that they show.

Tools that look into a running program belong in `debugging/`.
"""
