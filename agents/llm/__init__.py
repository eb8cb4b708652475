"""Agents with language models behind OpenAI-compatible endpoints.

agent.py         `llm`: one model
seeker.py        `seeker`: a small model that explores, and a code model that edits
investigator.py  the second model, which answers the questions of the tool `investigate`
dialogue.py      a model that acts: every answer is parsed into actions
conversation.py  sending requests, recording their cost, continuing an interrupted conversation
syntax.py        the protocol of an action syntax; tool_calling.py and text.py implement it
endpoint.py      one request, one answer; chat.py, responses.py and messages.py are the APIs
client.py        clients of the openai package, for OpenAI, Azure and compatible servers
retries.py       which errors are temporary, and how long to wait before a retry
limits.py        rate and concurrency limits of an endpoint
history.py       keeping the conversation within the model's context
prices.py        what tokens cost (prices.toml, and the user's own table)
prompting.py     the templates in prompts/
settings.py      what can be configured
"""

from stackrank.agents.llm.agent import LlmAgent

__all__ = ["LlmAgent"]
