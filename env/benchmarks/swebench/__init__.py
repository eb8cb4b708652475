"""SWE-bench: its instances, the layouts of related data sets, and the environments of its repositories."""
