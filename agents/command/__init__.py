"""`command`: any program that runs in the sandbox and reaches its model through stackrank.

minimal.py is the default program. How requests reach the sandbox does not belong here: see env/tools/program.py.
"""

from stackrank.agents.command.agent import CommandAgent

__all__ = ["CommandAgent"]
