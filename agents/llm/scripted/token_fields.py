"""What servers of models say about single tokens, if a request of Chat Completions asks for it.

`return_token_ids` (vLLM, SGLang): `prompt_token_ids`, and `token_ids` of each choice.
`logprobs` (all): `logprobs.content` of each choice, where llama.cpp adds the `id` of a token.
`return_meta_info` (SGLang): `meta_info.output_token_logprobs` of each choice: log-probability, id and text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ScriptedTokens:
    """The tokens of a request and its answer."""

    prompt: tuple[int, ...]
    answer: tuple[int, ...]
    logprobs: tuple[float, ...]
    """For each token of the answer, the natural logarithm of its probability."""


def add_tokens(body: dict[str, Any], request: Mapping[str, Any], tokens: ScriptedTokens | None) -> None:
    """Add to an answer what the request asked for. `tokens`: None means one for each byte, with probability 1."""
    choice = body["choices"][0]
    known = tokens or _bytes_of(request, choice["message"])
    priced = zip(known.answer, known.logprobs, strict=True)
    if request.get("return_token_ids"):
        body["prompt_token_ids"], choice["token_ids"] = list(known.prompt), list(known.answer)
    if request.get("return_meta_info"):
        choice["meta_info"] = {"output_token_logprobs": [[logprob, token, None] for token, logprob in priced]}
    elif request.get("logprobs"):
        content = [{"token": f"<{token}>", "id": token, "logprob": logprob} for token, logprob in priced]
        choice["logprobs"] = {"content": content}


def _bytes_of(request: Mapping[str, Any], message: Mapping[str, Any]) -> ScriptedTokens:
    prompt = "".join(_text_of(earlier) for earlier in request["messages"])
    answer = tuple(_text_of(message).encode())
    return ScriptedTokens(tuple(prompt.encode()), answer, (0.0,) * len(answer))


def _text_of(message: Mapping[str, Any]) -> str:
    return json.dumps({name: value for name, value in message.items() if value is not None}, sort_keys=True) + "\n"
