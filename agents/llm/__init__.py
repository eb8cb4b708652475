"""Agents with language models: `llm` (agent.py), `seeker`, and the investigator behind the tool `investigate`.

Talking to a provider belongs to endpoints/, writing and reading actions to syntaxes/, a stand-in model to scripted/.
"""

from stackrank.agents.llm.agent import LlmAgent

__all__ = ["LlmAgent"]
