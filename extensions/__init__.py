"""What rides on the core. Each folder can be read, changed or deleted alone.

An extension is registered by the entry points of `pyproject.toml`, as any other package's would be. What every run
needs belongs in the core.
"""
