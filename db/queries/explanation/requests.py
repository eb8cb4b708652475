"""What models were asked and what answered, in a few episodes that now fail and in those of the same tasks before."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Any, NamedTuple

from sqlalchemy import Engine

from stackrank.db.queries.episodes.steps import StepRow, steps_of
from stackrank.db.queries.explanation.findings import CauseKind, Finding, Link, episode_link, shared_start
from stackrank.db.queries.explanation.sides import PlayedEpisode, Side, key_of
from stackrank.terms import HISTORY_CUT, Verdict
from stackrank.wording import percent, whole

MOST_PAIRS = 6
"""So many pairs of episodes are read, with all their requests."""
_INSTRUCTIONS = ("system", "instructions")
_SAMPLING = ("temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty")
_LENGTHS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_IGNORED = {"messages", "input", "seed", "stream", "stream_options", "user", "prompt_cache_key", "metadata"}
_MOST = 0.8
"""What differs in this share of the pairs differs in general."""
_PLATEAU = 0.03


class _Asked(NamedTuple):
    """The requests of an episode and their answers."""

    episode: PlayedEpisode
    steps: list[StepRow]
    exchanges: list[Mapping[str, Any]]

    @property
    def first(self) -> Mapping[str, Any]:
        return _mapping(self.exchanges[0]["request"])

    @property
    def messages(self) -> list[Mapping[str, Any]]:
        listed = self.first.get("messages") or self.first.get("input") or []
        return [message for message in listed if isinstance(message, Mapping)] if isinstance(listed, list) else []

    @property
    def instructions(self) -> str:
        parts = [self.first.get(name) for name in _INSTRUCTIONS]
        parts += [message.get("content") for message in self.messages if message.get("role") in ("system", "developer")]
        return "\n".join(part if isinstance(part, str) else json.dumps(part) for part in parts if part)

    @property
    def task_message(self) -> str:
        return next((json.dumps(message) for message in self.messages if message.get("role") == "user"), "")

    @property
    def cuts(self) -> list[float]:
        """To how many tokens the conversation was cut, each time that it was."""
        cuts = [_mapping(exchange["request"]).get(HISTORY_CUT) for exchange in self.exchanges]
        return [float(cut) for cut in cuts if isinstance(cut, int | float)]

    @property
    def largest(self) -> int:
        """The most tokens that one step sent."""
        return max((step["tokens_in"] for step in self.steps), default=0)

    @property
    def broken_off(self) -> float:
        """The share of answers that ended at the limit of their length."""
        return fmean(_is_broken_off(_mapping(exchange["answer"])) for exchange in self.exchanges)


def asked(engine: Engine, side: Side, run: int, before: int) -> Iterator[Finding]:
    """Yield what differs in the requests and answers of an entrant's episodes. Reads the steps of a few episodes."""
    pairs = _read_pairs(engine, side, run, before)
    if not pairs:
        return
    olds, news = [old for old, _ in pairs], [new for _, new in pairs]
    links = [
        episode_link(f"{label}: {row.episode['task']}", row.episode["id"])
        for label, row in (("Before", olds[0]), ("Now", news[0]))
    ]
    name = side.entrant["name"]
    yield from _prompt(name, pairs, links)
    yield from _parameters(name, olds, news, links)
    yield from _served(name, olds, news, links)
    yield from _context(name, olds, news, links)
    broken_off = [fmean(row.broken_off for row in rows) for rows in (olds, news)]
    if broken_off[1] - broken_off[0] > 0.1:
        shares = f"{percent(broken_off[0])} -> {percent(broken_off[1])}"
        text = f"{name}: {shares} of the answers were cut off at their limit"
        yield Finding(CauseKind.ANSWER_LENGTH, f"{text}.", min(0.9, 0.4 + broken_off[1] - broken_off[0]), links)


def _read_pairs(engine: Engine, side: Side, run: int, before: int) -> list[tuple[_Asked, _Asked]]:
    earlier = {key_of(row): row for row in side.before if row["run_id"] == before}
    chosen: dict[Any, tuple[PlayedEpisode, PlayedEpisode]] = {}
    for row in [*side.newly_failing, *side.now]:
        if row["verdict"] != Verdict.ERROR and key_of(row) in earlier and len(chosen) < MOST_PAIRS:
            chosen.setdefault(key_of(row), (earlier[key_of(row)], row))
    steps = [
        steps_of(engine, run_id, [pair[index]["id"] for pair in chosen.values()], exchanges=True)
        for index, run_id in enumerate((before, run))
    ]
    pairs = [(_asked(old, steps[0][old["id"]]), _asked(new, steps[1][new["id"]])) for old, new in chosen.values()]
    return [(old, new) for old, new in pairs if old.exchanges and new.exchanges]


def _asked(episode: PlayedEpisode, steps: list[StepRow]) -> _Asked:
    return _Asked(episode, steps, [exchange for step in steps for exchange in step["exchanges"]])


def _prompt(name: str, pairs: Sequence[tuple[_Asked, _Asked]], links: list[Link]) -> Iterator[Finding]:
    for what, weight in (("instructions", 0.65), ("task_message", 0.5)):
        texts = [(str(getattr(old, what)), str(getattr(new, what))) for old, new in pairs]
        differing = [pair for pair in texts if pair[0] != pair[1]]
        if len(differing) >= _MOST * len(pairs) and len(pairs) > 1:
            called = {"instructions": "instructions to the model", "task_message": "message that states the task"}[what]
            yield Finding(
                CauseKind.PROMPT, f"{name}: the {called} changed: {_first_difference(*differing[0])}.", weight, links
            )
            return  # where the instructions are, the message often follows


def _first_difference(old: str, new: str) -> str:
    start = max(0, shared_start(old, new) - 15)
    return " -> ".join(f'"{" ".join(text[start : start + 60].split())}"' for text in (old, new))


def _parameters(name: str, olds: Sequence[_Asked], news: Sequence[_Asked], links: list[Link]) -> Iterator[Finding]:
    for key in sorted({key for row in (*olds, *news) for key in row.first} - _IGNORED - {*_INSTRUCTIONS, HISTORY_CUT}):
        old, new = ({json.dumps(row.first.get(key), sort_keys=True) for row in rows} for rows in (olds, news))
        if len(old) != 1 or len(new) != 1 or old == new:
            continue
        if key == "tools":
            yield Finding(CauseKind.TOOLS, f"{name}: the tools are described to the model in another way.", 0.4, links)
            continue
        kind, weight = (
            (CauseKind.SAMPLING, 0.55) if key in _SAMPLING
            else (CauseKind.ANSWER_LENGTH, 0.35) if key in _LENGTHS
            else (CauseKind.MODEL, 0.6) if key == "model"
            else (CauseKind.SETTINGS, 0.4)
        )  # fmt: skip
        values = " -> ".join("not sent" if value == "null" else value[:60] for value in (*old, *new))
        yield Finding(kind, f"{name}: requests ask for {key} {values}.", weight, links)


def _served(name: str, olds: Sequence[_Asked], news: Sequence[_Asked], links: list[Link]) -> Iterator[Finding]:
    """Yield another snapshot of the model, as the endpoint names it."""
    for field, what, weight in (("model", "model that answers", 0.75), ("system_fingerprint", "fingerprint", 0.5)):
        old, new = (
            {str(_mapping(exchange["answer"]).get(field) or "") for row in rows for exchange in row.exchanges} - {""}
            for rows in (olds, news)
        )
        if old and new and not old & new and len(old) == 1:
            values = f"{', '.join(sorted(old))} -> {', '.join(sorted(new))}"
            yield Finding(CauseKind.MODEL, f"{name}: the {what} is another one: {values}.", weight, links)


def _context(name: str, olds: Sequence[_Asked], news: Sequence[_Asked], links: list[Link]) -> Iterator[Finding]:
    """Yield conversations that were cut before they were sent, or by the endpoint afterwards."""
    shares = [fmean(bool(row.cuts) for row in rows) for rows in (olds, news)]
    cuts = [[cut for row in rows for cut in row.cuts] for rows in (olds, news)]
    is_shorter = bool(cuts[0] and cuts[1]) and median(cuts[1]) < 0.7 * median(cuts[0])
    if shares[1] - shares[0] >= 0.3 or (is_shorter and shares[1] >= shares[0]):
        to = f", to {whole(median(cuts[1]))} tokens" if cuts[1] else ""
        text = f"{percent(shares[0])} -> {percent(shares[1])} of the conversations read are cut{to}"
        yield Finding(CauseKind.CONTEXT, f"{name}: {text}.", 0.3 + 0.6 * max(shares[1] - shares[0], 0.5), links)
        return
    most = [[row.largest for row in rows if row.largest] for rows in (olds, news)]
    if not all(most) or median(most[1]) >= 0.75 * median(most[0]):
        return
    steps = [median(len(row.steps) for row in rows) for rows in (olds, news)]
    if steps[1] < 0.75 * steps[0]:
        return  # shorter episodes send less
    top = max(most[1])
    at_top = fmean(value >= (1 - _PLATEAU) * top for value in most[1])
    text = f"{name}: the model reads at most {whole(median(most[1]))} tokens, before {whole(median(most[0]))}"
    text += ", as if the endpoint cut the conversations" if at_top >= 0.5 else ""
    yield Finding(CauseKind.CONTEXT, f"{text}.", 0.8 if at_top >= 0.5 else 0.3, links)


def _is_broken_off(answer: Mapping[str, Any]) -> bool:
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
    details = _mapping(answer.get("incomplete_details"))
    return (
        choice.get("finish_reason") == "length"
        or answer.get("stop_reason") == "max_tokens"
        or details.get("reason") == "max_output_tokens"
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
