"""What is done with a run that was played: replays, new scores, reports, exports, explanations.

Nothing here plays an episode of a run.
"""
