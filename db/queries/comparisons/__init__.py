"""Queries that compare two entrants, two runs, or a run with its series.

The statistics themselves are in `db/stats/`.
"""
