"""Larger scenarios that benches and tests play: a fleet of workers, a soak, a big database."""
