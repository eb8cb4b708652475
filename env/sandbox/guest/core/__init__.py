"""Files, processes and the exchange of frames with the host, for tests and tools alike.

What runs pytest belongs in `testing`; what only an agent's debugging tools use belongs in `debugging`.
"""
