"""The two error rates of verdicts: how often wrong changes are resolved, and how often right repairs are not.

`changes` reads changes whose authors say whether they are right. `grading` gives them verdicts as an episode gets them.
`measure` counts what a verdict got wrong.
"""
