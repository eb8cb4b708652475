"""Make benchmarks: plant faults, take them from commits, measure how hard they are, audit their tests.

Playing a benchmark belongs in the core.
"""
