"""The scripted OpenAI-compatible server, re-exported for tests."""

from stackrank.agents.llm.scripted.answers import Entry, Fault, Script, ScriptedReply, call, calls, says
from stackrank.agents.llm.scripted.server import OpenAIServer

__all__ = ["Entry", "Fault", "OpenAIServer", "Script", "ScriptedReply", "call", "calls", "says"]
