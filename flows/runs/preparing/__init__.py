"""From a specification to a run in the database: check it on this machine, build environments, store it.

Playing belongs in `playing/`; proofs and lists of tasks are here because they prepare the same tasks.
"""
