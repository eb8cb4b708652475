"""Queries about episodes, their steps and their verdicts.

Sums over episodes belong in `boards/`.
"""
