"""Background services of a machine: the Prefect server, workers, the dashboard, metrics."""
