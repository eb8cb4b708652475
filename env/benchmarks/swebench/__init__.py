"""SWE-bench: its instances, the layouts of related data sets, and the environments of its repositories.

How the logs of its tests are read belongs in `env/scoring`.
"""
