"""`repair`: an agent without a model. It localises the fault, proposes small changes and tests them.

Modules:
    agent.py        the agent
    search.py       the order in which candidates are tested, and which are kept
    workspace.py    knowledge about the program and its tests
    localise.py     how suspicious each line is
    symptoms.py     which kinds of change the failures suggest
    proposals.py    all candidates, the most promising first
    source.py       a source file, locations in it, changes to it
    expressions.py  changes to expressions
    statements.py   changes to statements
    names.py        changes of one name to another
    pitfalls.py     known traps of values
    traps.py        known traps of syntax and calls
    flow.py         known traps of control flow
    donors.py       inserted statements
    combine.py      several changes as one
    syntax.py       files that do not parse
    debugger.py     the agent's questions to the debugger
    tracing.py      the agent's questions to `trace` if it has no debugger
    probe.py        the code that answers them in the stopped program
"""

from stackrank.extensions.repair.agent import Repair

__all__ = ["Repair"]
