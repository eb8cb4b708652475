"""Measures how difficult a bug is to find, without a model.

`spectrum` runs all tests of the original task and records which lines each of them runs; `formulas` ranks the lines by
this. `measure` determines how far the fault is from what the failing test shows, and predicts the difficulty. The two
pytest plug-ins run inside the sandbox.
"""
