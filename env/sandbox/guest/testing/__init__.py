"""Running tests and reporting their results, for verdicts and for agents.

Nothing here uses a debugging tool, so that changing one changes no verdict.
"""
