"""Pairs to prefer one of: episodes of one task, of which one came to a fix and one did not.

What a person decided about a proposed fix counts for more than its verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from stackrank.agents.llm.as_chat import chat_tools
from stackrank.db import queries
from stackrank.db.proposals import require_genuine
from stackrank.flows.runs.export.source import Row, Source
from stackrank.flows.runs.export.turns import Turn, conversations
from stackrank.flows.runs.spec import SpecError
from stackrank.terms import DecisionKind, Verdict
from stackrank.wording import as_json

_GOOD: tuple[str, ...] = (DecisionKind.APPROVED, Verdict.RESOLVED)
"""What is chosen: of a task, the first of these that there is."""
_BAD: tuple[str, ...] = (DecisionKind.REJECTED, Verdict.UNRESOLVED)


@dataclass(frozen=True, slots=True)
class _Outline:
    """A conversation by digests: enough to find how long it goes along with another."""

    row: Row
    tools: bytes
    messages: tuple[bytes, ...]


def pairs(source: Source) -> Iterator[dict[str, Any]]:
    """Each unresolved episode with the resolved one that goes along with it for longest.

    `outcome`: the rest of both after what opened the conversation. `action`: where they part because the model said
    something else in the same state, the two answers. Digests of one task's episodes are in memory at once.
    An episode whose change a person rejected counts as unresolved; where one of a task was approved, only approved
    ones are chosen. `change`: two proposed changes, of which a person approved one and rejected the other.
    Raises SpecError where the filters leave one verdict only, DecisionRefused for a forged decision.
    """
    if chosen := source.chosen("verdict"):
        raise SpecError(f"pairs need both resolved and unresolved episodes: leave out --verdict {chosen[0]}")
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
            worse = [each for side in _BAD for each in by_side.get(side, ())]
            used = Counter[int]()
            for bad in worse if preferred else ():
                good = max(preferred, key=lambda each: (_along(each, bad), -used[each.row["id"]]))
                used[good.row["id"]] += 1
                yield from _records(source, name, good, bad, _reason(decided, bad.row))
        yield from _changes(source, task_id, proposed, decided)


def _decided(source: Source) -> dict[int, Row]:
    """Episode -> the proposal of its change, where a person approved or rejected it."""
    rows = [row for row in queries.proposals(source.engine, run_id=source.run["id"]) if row["decision"]]
    for row in rows:
        require_genuine(row)
    return {episode: row for row in rows for episode in row["evidence"]["episodes"]}


def _reason(decided: Mapping[int, Row], row: Row) -> str:
    return str(decided[row["id"]]["decision"]["reason"]) if row["id"] in decided else ""


def _changes(
    source: Source, task_id: int, proposed: Mapping[int, Row], decided: Mapping[int, Row]
) -> Iterator[dict[str, Any]]:
    """Each rejected change of a task beside the approved one that looked surest. `proposed`: proposal -> an episode."""
    rows = [(decided[row["id"]], row) for row in proposed.values()]
    approved = [each for each in rows if each[0]["status"] == DecisionKind.APPROVED]
    rejected = [each for each in rows if each[0]["status"] == DecisionKind.REJECTED]
    if not (approved and rejected):
        return
    best, good = max(approved, key=lambda each: (each[0]["surety"], -each[0]["id"]))
    statement = queries.task(source.engine, task_id)["statement"]
    for worse, bad in rejected:
        chosen, other = ([{"role": "assistant", "content": each["diff"]}] for each in (best, worse))
        about = _about(source, "", good, bad, worse["decision"]["reason"])
        prompt = [{"role": "user", "content": statement}]
        yield {"kind": "change", "prompt": prompt, "chosen": chosen, "rejected": other, "tools": [], **about}


def _outline(row: Row, turns: Sequence[Turn]) -> _Outline:
    return _Outline(row, _digest(_tools(turns)), tuple(_digest(each) for each in _messages(turns)))


def _digest(value: Any) -> bytes:
    return blake2b(as_json(value).encode(), digest_size=12).digest()


def _tools(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    question = turns[-1].question
    return chat_tools(question.api, question.parameters.get("tools", ()))


def _messages(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    return [message for turn in turns for message in (*turn.heard, turn.said)]


def _along(one: _Outline, other: _Outline) -> int:
    """How many messages two conversations with the same tools have in common, from the first one on."""
    if one.tools != other.tools:
        return 0
    both = zip(one.messages, other.messages, strict=False)
    return next((n for n, (a, b) in enumerate(both) if a != b), min(len(one.messages), len(other.messages)))


def _about(source: Source, name: str, good: Row, bad: Row, reason: str) -> dict[str, Any]:
    """What every record says of its two episodes; `reason`: why a person rejected one, if so."""
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


def _records(source: Source, name: str, good: _Outline, bad: _Outline, reason: str) -> Iterator[dict[str, Any]]:
    ids = [good.row["id"], bad.row["id"]]
    steps = queries.steps_of(source.engine, source.run["id"], ids, exchanges=True)
    turns = [conversations(steps[each])[name] for each in ids]
    chosen, rejected = (_messages(each) for each in turns)
    tools = [_tools(each) for each in turns]
    about = {
        "tools": tools[0],
        **({"rejected_tools": tools[1]} if tools[0] != tools[1] else {}),
        **_about(source, name, good.row, bad.row, reason),
    }
    along, opening = _along(good, bad), len(turns[0][0].heard)
    start = opening if along >= opening else 0
    yield {"kind": "outcome", "prompt": chosen[:start], "chosen": chosen[start:], "rejected": rejected[start:], **about}
    answers = [each[along : along + 1] for each in (chosen, rejected)]
    if along >= opening and all(each and each[0]["role"] == "assistant" for each in answers):
        yield {"kind": "action", "prompt": chosen[:along], "chosen": answers[0], "rejected": answers[1], **about}
