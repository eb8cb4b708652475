"""Small changes of Python programs: where a syntax tree can change, how, and how the changed text reads.

What a change is for belongs to the extensions that use it: finding a fix, planting a bug, auditing tests.
"""
