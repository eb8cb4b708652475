"""Harbor's task directories as a benchmark, and tasks written as such directories."""
