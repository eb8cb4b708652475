"""Verdicts on tasks without a known fix: the program that passes is tested against itself.

What is needed when a fix is known, such as proofs of a task, does not belong here.
"""
