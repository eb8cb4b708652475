"""The model `scripted`, which needs no key: a server in this process answers from the built-in script."""

from __future__ import annotations

import functools

SCRIPTED = "scripted"
"""The model's name. It is served here if nothing says which endpoint to ask."""


@functools.cache
def scripted_url() -> str:
    """Return the address of the server, which the first call starts and which ends with the process."""
    from stackrank.agents.llm.scripted.script import DEFAULT, Player
    from stackrank.agents.llm.scripted.server import OpenAIServer

    return OpenAIServer(Player(DEFAULT), models=[SCRIPTED]).__enter__().url
