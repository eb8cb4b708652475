"""From a specification to a run in the database: check it on this machine, build environments, store it.

Playing belongs in `playing/`.
"""
