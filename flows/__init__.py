"""Runs: their specification, the Prefect flow that plays them, and the command line."""
