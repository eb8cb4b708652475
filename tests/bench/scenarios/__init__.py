"""Larger scenarios for benchmarks and tests: a fleet of workers, a soak test, a big database."""
