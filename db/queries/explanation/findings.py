"""What a cause is, how causes are put together from findings, and in which order they are named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import takewhile
from typing import Any, NamedTuple, TypedDict


class CauseKind(StrEnum):
    """What may have made a night worse."""

    CHANCE = "chance"
    FLAKY_TASKS = "flaky_tasks"
    PROMPT = "prompt"
    SAMPLING = "sampling"
    MODEL = "model"
    CONTEXT = "context"
    ANSWER_LENGTH = "answer_length"
    SETTINGS = "settings"
    AGENT = "agent"
    TOOLS = "tools"
    LIMITS = "limits"
    SCORER = "scorer"
    CONDITIONS = "conditions"
    ERRORS = "errors"
    ENDPOINT = "endpoint"
    MACHINE = "machine"
    MALFORMED_ANSWERS = "malformed_answers"
    VERSIONS = "versions"


class Link(TypedDict):
    """Where the evidence is: a page of the dashboard and its query."""

    label: str
    page: str
    query: dict[str, Any]


class Finding(NamedTuple):
    """A change, or a sign of one, that one entrant's episodes show.

    `strength`: about how likely it is that this alone explains the loss, from 0 to 1.
    """

    kind: CauseKind
    sentence: str
    strength: float
    links: Sequence[Link] = ()


class Cause(TypedDict):
    """A possible cause, with the sentences of its evidence. `strength`: as in `Finding`, over all entrants."""

    kind: CauseKind
    sentences: list[str]
    strength: float
    entrants: list[str]
    links: list[Link]


def rank(found: Iterable[tuple[str, float, Sequence[Finding]]]) -> list[Cause]:
    """Return the causes, the likeliest first.

    `found`: name of an entrant, the weight of its loss, and its findings. Findings of one kind support each other:
    they are as if at least one of several independent reasons held.
    """
    causes: dict[CauseKind, Cause] = {}
    whole = 0.0
    for entrant, weight, findings in found:
        whole += weight
        for kind in dict.fromkeys(finding.kind for finding in findings):
            doubt = 1.0
            cause = causes.setdefault(
                kind, {"kind": kind, "sentences": [], "strength": 0.0, "entrants": [], "links": []}
            )
            cause["entrants"].append(entrant)
            for finding in sorted(findings, key=lambda finding: -finding.strength):
                if finding.kind is kind:
                    doubt *= 1 - finding.strength
                    cause["sentences"] += [finding.sentence] * (finding.sentence not in cause["sentences"])
                    cause["links"] += [link for link in finding.links if link not in cause["links"]]
            cause["strength"] += weight * (1 - doubt)
    for cause in causes.values():
        cause["strength"] = cause["strength"] / whole if whole else 0.0
    return sorted(causes.values(), key=lambda cause: -cause["strength"])


def shared_start(first: str, second: str) -> int:
    """Return how many characters two texts begin with in common."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def episode_link(label: str, episode_id: int) -> Link:
    """Return the link to a trace."""
    return {"label": label, "page": "episode", "query": {"id": episode_id}}


def run_link(run_id: int) -> Link:
    """Return the link to a run, which shows its specification, versions and errors."""
    return {"label": f"Open run #{run_id}", "page": "run", "query": {"id": run_id}}
