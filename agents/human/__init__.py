"""`human`: a person at the keyboard. Reading commands and showing observations belongs here.

Commands of the command line do not; `stackrank play` starts this agent.
"""

from stackrank.agents.human.agent import Human

__all__ = ["Human"]
