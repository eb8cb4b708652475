"""One episode: the agent protocol, the loop that plays the episode, and the analysis of its trajectory.

Particular agents do not belong here, nor does storing what happened.
"""
