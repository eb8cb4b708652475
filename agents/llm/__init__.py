"""`llm`: a language model behind an OpenAI-compatible endpoint.

agent.py         one episode: ask, queue the calls, book what it cost
settings.py      what can be configured
tool_calling.py  from a reply to actions, from observations to messages
endpoint.py      one question, one reply: Chat Completions
retries.py       which errors pass, and how long to wait for that
history.py       keeping the conversation within the model's context
prices.py        what tokens cost (prices.toml, and the user's own table)
prompting.py     the templates in prompts/
"""

from agents.llm.agent import LlmAgent

__all__ = ["LlmAgent"]
