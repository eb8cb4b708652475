"""The agents, and `episode`, the rules by which each of them plays.

Runs, the database and the command line do not belong here; agents for one purpose only are extensions.
"""
