"""The scripted endpoint, as tests use it."""

from flows.scripted_answers import Entry, Fault, Reply, Script, call, calls, says
from flows.scripted_server import OpenAIServer

__all__ = ["Entry", "Fault", "OpenAIServer", "Reply", "Script", "call", "calls", "says"]
