"""Verdicts on tasks with several faults.

How one fault is judged does not belong here.
"""
