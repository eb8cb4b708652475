"""Sums over episodes that are kept, so that no board adds them up again.

Queries that read them belong in `db/queries/`.
"""
