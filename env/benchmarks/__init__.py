"""Benchmarks: families of tasks. One file each; see `base.Benchmark` for the protocol, and `registry` for the list.

What makes new tasks belongs in `extensions/authoring`.
"""
