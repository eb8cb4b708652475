"""Programs that run to their end under an observer: trace, calls and snapshot, and the ways to follow code.

Interactive debugging belongs in `pdb`.
"""
