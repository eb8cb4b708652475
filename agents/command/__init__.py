"""`command`: any program that runs in the sandbox and reaches its model through stackrank.

agent.py      one episode: start the program, answer its requests, submit when it ends
minimal.py    the default program; it runs inside the sandbox
"""

from stackrank.agents.command.agent import CommandAgent

__all__ = ["CommandAgent"]
