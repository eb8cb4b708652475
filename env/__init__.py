"""The debugging environment: a bug, a sandbox, tools, a verdict.

Whatever knows models, the database or Prefect does not belong here.
"""
