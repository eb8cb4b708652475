"""Why a run is worse than an earlier one: what changed, and how much of the loss each change accounts for.

`night` is the public module. Only what is stored is read; no module here knows how a run is played.
"""
