"""`human`: a person at the keyboard.

agent.py      one episode: show the observation, ask for a command, return the action
commands.py   parse a typed line into an action, and complete it
console.py    a terminal with history and completion, or plain lines
"""

from stackrank.agents.human.agent import Human

__all__ = ["Human"]
