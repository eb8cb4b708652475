"""Runs, without Prefect: the specification, checking it on this machine, and playing its episodes."""
