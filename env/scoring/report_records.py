"""The records of a test run's report: what the guest's reporter writes (`env.sandbox.guest.pytest_child`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from pydantic import Discriminator, Field, Tag

from stackrank.env.sandbox.replies.decoder import Few, Line, Many, Name, Number, decode

_TOLERANCE = r"[0-9]{1,40}(\.[0-9]{1,40})?(e[-+]?[0-9]{1,3})?"
Answer = Annotated[str, Field(max_length=2000, pattern=rf"(?s)^[0-9]{{1,9}} (=|!|~{_TOLERANCE},{_TOLERANCE}) .*$")]
"""What a test answered that asks: line, kind (`env.scoring.withheld.answers`) and text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    """What every record of a report has."""

    seq: Number
    """The number of its line, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected(Numbered):
    """The tests that pytest found."""

    collected: Many[Name]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectError(Numbered):
    """A file of tests that cannot be imported."""

    collect_error: Name
    message: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion(Numbered):
    """A sign that somebody tampers with the run."""

    suspicion: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished(Numbered):
    """The run ended properly."""

    finished: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Numbered):
    """How one part of a test ended."""

    test: Name
    canary: bool
    when: Literal["setup", "call", "teardown"]
    outcome: Literal["passed", "failed", "skipped"]
    """What the exception that was raised means."""
    xfail: bool
    reported: Name
    """What pytest and its plug-ins make of it."""
    message: Name
    assertion: bool
    lines: Few[Line]
    answers: Annotated[tuple[Answer, ...], Field(max_length=512)]


def _kind(record: Any) -> str:
    keys = record if isinstance(record, dict) else ()
    return next((key for key in ("collected", "collect_error", "suspicion", "finished") if key in keys), "result")


Record = Collected | CollectError | Suspicion | Finished | Result
_RECORD = cast(
    Any,
    Annotated[
        Annotated[Collected, Tag("collected")]
        | Annotated[CollectError, Tag("collect_error")]
        | Annotated[Suspicion, Tag("suspicion")]
        | Annotated[Finished, Tag("finished")]
        | Annotated[Result, Tag("result")],
        Discriminator(_kind),
    ],
)


def read_record(text: bytes) -> Record:
    """Return a record. Raises BadReply."""
    record: Record = decode(_RECORD, text)
    return record
