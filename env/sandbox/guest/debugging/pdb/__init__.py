"""Real pdb, driven from outside: the session, and what runs in the process under debugging.

What other debugging tools use as well belongs one folder up.
"""
