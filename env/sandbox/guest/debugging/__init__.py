"""The tools of an agent: pdb, observers (trace, calls, snapshot), the terminal, and servers that run alongside.

Nothing here takes part in a verdict: what does belongs in `testing` or `core`.
"""
