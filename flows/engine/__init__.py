"""Prefect, and Dask or Ray clusters: flows, deployments, schedules, and what Prefect's pages show. Slow to import.

What a run does without Prefect belongs in `flows/runs/`.
"""
