"""Queries about many entrants: leaderboards, tool sets, tasks, and which runs they pool.

Queries about two of them belong in `comparisons/`.
"""
