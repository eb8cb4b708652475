"""Tools that look into a running program: pdb, trace, calls, snapshot, terminal, investigate.

Tools that change files belong in `editing/`.
"""
