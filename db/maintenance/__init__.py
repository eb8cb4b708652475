"""What an operator does to a whole database: archive, copy and prune runs.

Writes of a run that is played belong in `db/writes/`.
"""
