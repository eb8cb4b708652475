"""Spectrum-based fault localisation: which tests run which lines, and how suspicious that makes each line.

What follows from a rank (how difficult a task is, what an agent tries first) belongs to the code that asks.
"""
