"""`repair`: an agent without a model. It localises the fault, proposes small changes and tests them.

Modules:
    agent.py        the agent
    search.py       the order in which candidates are tested, and which are kept
    workspace.py    knowledge about the program and its tests
    localise.py     how suspicious each line is
    symptoms.py     which kinds of change the failures suggest
    proposals.py    the candidates in order
    source.py       a source file, locations in it, changes to it
    expressions.py  changes to expressions
    statements.py   changes to statements
    names.py        changes of one name for another
    pitfalls.py     known traps of values
    traps.py        known traps of syntax and calls
    flow.py         known traps of control flow
    donors.py       statements put in
    combine.py      several changes as one
    syntax.py       files that do not parse
    debugger.py     what the agent asks the debugger
    tracing.py      what the agent asks `trace` where it has no debugger
    probe.py        what runs in the stopped program when it does
"""

from stackrank.agents.repair.agent import Repair

__all__ = ["Repair"]
