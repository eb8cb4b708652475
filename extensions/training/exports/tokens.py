"""Conversations as tokens: what was sampled, in the context in which it was sampled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from stackrank.agents.llm.endpoints.recorded_requests import RecordedRequest, token_ids

ENDPOINT = "endpoint"


class TokenSequence(TypedDict):
    """Tokens of a conversation. Each token that the model sampled is in exactly one sequence with the mask 1."""

    ids: list[int]
    mask: list[int]
    """For each token, 1 if the model sampled it, so that it counts in a loss, else 0."""
    logprobs: NotRequired[list[float]]
    """For each token, the natural logarithm of its probability, as the endpoint said; 0 where the mask is 0."""
    source: str
    """`endpoint`, or the tokenizer that made the tokens from text, which may not be those that were sampled."""


class Piece(TypedDict):
    """A prompt and the answer to it."""

    prompt: list[int]
    answer: list[int]
    logprobs: list[float] | None


def recorded_sequences(segment: Iterable[RecordedRequest]) -> list[TokenSequence]:
    """Return the tokens of a conversation as the endpoint reported them; empty if it reported none."""
    pieces: list[Piece] = []
    for question in segment:
        said = token_ids(question.answer)
        if "prompt_token_ids" in said and "completion_token_ids" in said:
            pieces.append(
                {
                    "prompt": said["prompt_token_ids"],
                    "answer": said["completion_token_ids"],
                    "logprobs": said.get("logprobs"),
                }
            )
    return join_pieces(pieces, ENDPOINT)


def tokens_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `token_ids` does, and `loss_mask`, for the tokens of the prompt and the answer, if both are known."""
    said = token_ids(answer)
    if "prompt_token_ids" in said and "completion_token_ids" in said:
        said["loss_mask"] = [0] * len(said["prompt_token_ids"]) + [1] * len(said["completion_token_ids"])
    return said


def join_pieces(pieces: Sequence[Piece], source: str) -> list[TokenSequence]:
    """Join prompts and answers to as few sequences as possible.

    A prompt that repeats all tokens before it continues the sequence. Another begins a new one: a server that tokenizes
    the history again may come to other tokens than the model sampled.
    """
    sequences: list[TokenSequence] = []
    for piece in pieces:
        last = sequences[-1] if sequences else None
        if last is None or piece["prompt"][: len(last["ids"])] != last["ids"]:
            last = TokenSequence(ids=[], mask=[], source=source)
            sequences.append(last)
        start, total = len(last["ids"]), len(piece["prompt"]) + len(piece["answer"])
        logprobs = last.get("logprobs") if start else []
        last["ids"] += [*piece["prompt"][start:], *piece["answer"]]
        last["mask"] += [0] * (len(piece["prompt"]) - start) + [1] * len(piece["answer"])
        if logprobs is None or piece["logprobs"] is None:
            last.pop("logprobs", None)
        else:
            context = [0.0] * (total - start - len(piece["answer"]))
            last["logprobs"] = [*logprobs, *context, *piece["logprobs"]]
    return sequences
