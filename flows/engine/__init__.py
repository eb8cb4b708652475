"""Runs in Prefect and Dask: flows, deployments, schedules, and what Prefect's pages show. Importing them is slow."""
