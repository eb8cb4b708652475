"""Writes, each a short transaction: runs and their status, claims, steps, verdicts, notes.

Reads belong in `db/queries/`.
"""
