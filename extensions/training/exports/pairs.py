"""Exports preference pairs: two episodes of one task, one with a fix and one without.

A person's decision about a proposed fix takes precedence over its verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NotRequired, TypedDict

from stackrank.db import queries
from stackrank.db.decision_seal import require_genuine
from stackrank.extensions.training.exports.chat_form import ChatMessage, to_chat_tools, to_typed_messages
from stackrank.extensions.training.exports.turns import Turn, conversations
from stackrank.flows.runs.afterwards.export.exporter import Exporter
from stackrank.flows.runs.afterwards.export.source import ExportSource, Row
from stackrank.flows.runs.specification.spec import SpecError
from stackrank.terms import DecisionKind, Verdict
from stackrank.wording import as_json

_GOOD: tuple[str, ...] = (DecisionKind.APPROVED, Verdict.RESOLVED)
"""Outcomes of chosen episodes: for each task, the first of these that occurs."""
_BAD: tuple[str, ...] = (DecisionKind.REJECTED, Verdict.UNRESOLVED)


class PairRecord(TypedDict):
    """Two conversations, answers or changes, one of which is better."""

    kind: str
    """`outcome`, `action` or `change`."""
    prompt: list[ChatMessage]
    chosen: list[ChatMessage]
    rejected: list[ChatMessage]
    tools: Any
    """The tools of Chat Completions."""
    rejected_tools: NotRequired[Any]
    """The tools of the rejected episode, if they differ."""
    conversation: str
    """`main`, or the name of another conversation of the episode; empty for a change."""
    task: str
    run: str
    """The name of the run."""
    split: str
    """`train`, `validation` or `test`, by task."""
    chosen_episode: int
    rejected_episode: int
    chosen_entrant: str
    rejected_entrant: str
    reason: str
    """Why a person rejected the change, if a person did."""
    scope: str
    """What the run covers, as the leaderboards say it."""


@dataclass(frozen=True, slots=True)
class _Outline:
    """A conversation as digests, enough to find how many messages it shares with another from the start."""

    row: Row
    tools: bytes
    messages: tuple[bytes, ...]


def pairs(source: ExportSource) -> Iterator[dict[str, Any]]:
    """Pair each unresolved episode with the resolved one that shares the longest beginning with it.

    `outcome`: both conversations after the opening. `action`: the two answers where they diverge, if the model answered
    differently in the same state. `change`: two proposed changes, of which a person approved one and rejected the
    other. An episode whose change a person rejected counts as unresolved; if a task has approved episodes, only these
    are chosen. The digests of one task's episodes are in memory at the same time.
    Raises SpecError if the filters select by verdict, DecisionRefused for a forged decision.
    """
    if verdicts := source.chosen("verdict"):
        raise SpecError(f"pairs need both resolved and unresolved episodes: leave out --verdict {verdicts[0]}")
    decided = _decided(source)
    for task_id in sorted(source.digests):
        outlines: dict[str, dict[str, list[_Outline]]] = {}
        proposed: dict[int, Row] = {}
        for row, steps in source.played(exchanges=True, task_id=task_id):
            proposal = decided.get(row["id"])
            if proposal:
                proposed.setdefault(proposal["id"], row)
            side = proposal["status"] if proposal else row["verdict"]
            for name, turns in conversations(steps).items() if side in (*_GOOD, *_BAD) else ():
                if not name.startswith("investigator"):
                    outlines.setdefault(name, {}).setdefault(side, []).append(_outline(row, turns))
        for name, by_side in outlines.items():
            preferred = next((by_side[side] for side in _GOOD if side in by_side), [])
            worse = [outline for side in _BAD for outline in by_side.get(side, ())]
            uses = Counter[int]()
            for bad in worse if preferred else ():
                good = max(preferred, key=lambda outline: (_along(outline, bad), -uses[outline.row["id"]]))
                uses[good.row["id"]] += 1
                yield from _records(source, name, good, bad, _reason(decided, bad.row))
        yield from _changes(source, task_id, proposed, decided)


def _decided(source: ExportSource) -> dict[int, Row]:
    """Return episode -> the proposal of its change, if a person approved or rejected it."""
    rows = [row for row in queries.proposals(source.engine, run_id=source.run["id"]) if row["decision"]]
    for row in rows:
        require_genuine(row)
    return {episode: row for row in rows for episode in row["evidence"]["episodes"]}


def _reason(decided: Mapping[int, Row], row: Row) -> str:
    return str(decided[row["id"]]["decision"]["reason"]) if row["id"] in decided else ""


def _changes(
    source: ExportSource, task_id: int, proposed: Mapping[int, Row], decided: Mapping[int, Row]
) -> Iterator[dict[str, Any]]:
    """Pair a task's rejected changes with the approved one that has the fewest doubts.

    `proposed`: proposal -> an episode.
    """
    rows = [(decided[row["id"]], row) for row in proposed.values()]
    approved = [pair for pair in rows if pair[0]["status"] == DecisionKind.APPROVED]
    rejected = [pair for pair in rows if pair[0]["status"] == DecisionKind.REJECTED]
    if not (approved and rejected):
        return
    best, good = min(approved, key=lambda pair: (len(pair[0]["doubts"]), pair[0]["id"]))
    statement = queries.task(source.engine, task_id)["statement"]
    for worse, bad in rejected:
        preferred, dispreferred = ([{"role": "assistant", "content": pair["diff"]}] for pair in (best, worse))
        fields = _about(source, "", good, bad, worse["decision"]["reason"])
        prompt = [{"role": "user", "content": statement}]
        yield {"kind": "change", "prompt": prompt, "chosen": preferred, "rejected": dispreferred, "tools": [], **fields}


def _outline(row: Row, turns: Sequence[Turn]) -> _Outline:
    return _Outline(row, _digest(_tools(turns)), tuple(_digest(message) for message in _messages(turns)))


def _digest(value: Any) -> bytes:
    return blake2b(as_json(value).encode(), digest_size=12).digest()


def _tools(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    question = turns[-1].question
    return to_chat_tools(question.api, question.parameters.get("tools", ()))


def _messages(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    return [message for turn in turns for message in (*turn.incoming, turn.answer)]


def _along(first: _Outline, second: _Outline) -> int:
    """Return how many leading messages two conversations with the same tools have in common."""
    if first.tools != second.tools:
        return 0
    message_pairs = zip(first.messages, second.messages, strict=False)
    return next((n for n, (a, b) in enumerate(message_pairs) if a != b), min(len(first.messages), len(second.messages)))


def _about(source: ExportSource, name: str, good: Row, bad: Row, reason: str) -> dict[str, Any]:
    """Return what every record says about its two episodes. `reason`: why a person rejected one, if one did."""
    return {
        "conversation": name,
        "task": good["task"],
        "run": good["run"],
        "split": source.split(good),
        "chosen_episode": good["id"],
        "rejected_episode": bad["id"],
        "chosen_entrant": good["entrant"],
        "rejected_entrant": bad["entrant"],
        "reason": reason,
        "scope": source.sentence,
    }


def _records(source: ExportSource, name: str, good: _Outline, bad: _Outline, reason: str) -> Iterator[dict[str, Any]]:
    ids = [good.row["id"], bad.row["id"]]
    steps = queries.steps_of(source.engine, source.run["id"], ids, exchanges=True)
    turns = [conversations(steps[part])[name] for part in ids]
    preferred, rejected = (to_typed_messages(_messages(part)) for part in turns)
    tools = [_tools(part) for part in turns]
    fields = {
        "tools": tools[0],
        **({"rejected_tools": tools[1]} if tools[0] != tools[1] else {}),
        **_about(source, name, good.row, bad.row, reason),
    }
    common, opening = _along(good, bad), len(turns[0][0].incoming)
    start = opening if common >= opening else 0
    yield {
        "kind": "outcome",
        "prompt": preferred[:start],
        "chosen": preferred[start:],
        "rejected": rejected[start:],
        **fields,
    }
    answers = [part[common : common + 1] for part in (preferred, rejected)]
    if common >= opening and all(part and part[0]["role"] == "assistant" for part in answers):
        yield {"kind": "action", "prompt": preferred[:common], "chosen": answers[0], "rejected": answers[1], **fields}


PAIRS = Exporter(
    pairs,
    PairRecord,
    "two conversations, two answers in one state, or two changes: the chosen one led to a fix, or was approved",
)
