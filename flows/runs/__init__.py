"""Runs without Prefect: their specification, preparing and playing them, and what follows.

What needs Prefect belongs in `flows/engine/`.
"""
