"""Operators: each proposes mutations of one kind of node.

Which of them is tried, and in which order, is decided elsewhere.
"""
