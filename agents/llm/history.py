"""Keeps a conversation within the model's context.

The middle of old observations is cut first, then whole old turns; the task and the last turn are never cut. A turn is
an assistant's message with the results of its calls, which stay together. Each cut removes much at once, so that
between two cuts the conversation only grows and the endpoint's cache of its beginning stays valid.
"""

from __future__ import annotations

import json

from stackrank.agents.llm.endpoints.endpoint import Message
from stackrank.wording import count_of

CHARACTERS_PER_TOKEN = 3.5
KEPT_TURNS = 4
"""Turns at the end that stay whole, unless they alone are too long."""
KEPT_CHARACTERS = 300
"""Characters that a cut observation keeps, at its head and at its tail."""
REMAINING_SHARE = 0.6
"""The share of the limit that is left after a cut."""


def estimate_tokens(messages: list[Message], characters_per_token: float = CHARACTERS_PER_TOKEN) -> int:
    """A rough estimate of the conversation's tokens."""
    return int(sum(_length(message) for message in messages) / characters_per_token)


def shrink(messages: list[Message], limit: int, characters_per_token: float = CHARACTERS_PER_TOKEN) -> list[Message]:
    """Cut a conversation of more than `limit` tokens to about `REMAINING_SHARE` of them; keep a shorter one."""
    if estimate_tokens(messages, characters_per_token) <= limit:
        return messages
    head, turns = _turns(messages)
    excess = sum(_length(message) for message in messages) - limit * REMAINING_SHARE * characters_per_token
    for turn in turns[:-KEPT_TURNS]:
        for position, message in enumerate(turn):
            if excess <= 0:
                break
            shorter = _cut(message)
            excess -= _length(message) - _length(shorter)
            turn[position] = shorter
    dropped = 0
    # The last turns go too if they alone are too long, for example because the model wrote a whole file.
    too_long = excess - limit * (1 - REMAINING_SHARE) * characters_per_token
    while len(turns) > 1 and (too_long if len(turns) <= KEPT_TURNS else excess) > 0:
        length = sum(_length(message) for message in turns.pop(0))
        excess, too_long = excess - length, too_long - length
        dropped += 1
    if dropped:
        head = [
            *head,
            {"role": "user", "content": f"[{count_of(dropped, 'earlier turn')} of this conversation omitted]"},
        ]
    return [*head, *(message for turn in turns for message in turn)]


def _turns(messages: list[Message]) -> tuple[list[Message], list[list[Message]]]:
    """Split a conversation into the messages before the first answer, and turns: an answer and what followed it."""
    first = next((n for n, message in enumerate(messages) if message["role"] == "assistant"), len(messages))
    turns: list[list[Message]] = []
    for message in messages[first:]:
        if message["role"] == "assistant":
            turns.append([])
        turns[-1].append(message)
    return messages[:first], turns


def _cut(message: Message) -> Message:
    content = message.get("content")
    if message["role"] == "assistant" or not isinstance(content, str):
        return message
    omitted = len(content) - 2 * KEPT_CHARACTERS
    if omitted < KEPT_CHARACTERS:
        return message
    note = f"\n[... {count_of(omitted, 'character')} of this observation omitted ...]\n"
    return {**message, "content": content[:KEPT_CHARACTERS] + note + content[-KEPT_CHARACTERS:]}


def _length(message: Message) -> int:
    content = message.get("content")
    if message.get("role") == "assistant" or not isinstance(content, str | list) or not content:
        return len(json.dumps(message)) + 20
    return len(content) + 20
