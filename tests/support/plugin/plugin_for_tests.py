"""A plug-in that brings one of each kind: tool, agent, benchmark, sandbox, command, page and exporter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from pydantic import Field

from stackrank.api import (
    Action,
    Agent,
    Arguments,
    Bench,
    Briefing,
    Decision,
    Exporter,
    ExportSource,
    GaveUp,
    Observation,
    Page,
    Pattern,
    Source,
    Task,
)
from stackrank.env.sandbox.local import LocalBackend

TEST = "from double import double\n\n\ndef test_double():\n    assert double(4) == 8\n"
FIXED = "def double(number):\n    return 2 * number\n"


class CountArguments(Arguments):
    """The file whose lines are counted."""

    path: str = Field(description="A file.")


class Count:
    """Counts the lines of a file."""

    name = "count"
    description = "Count the lines of a file."
    arguments = CountArguments

    def __call__(self, bench: Bench, arguments: CountArguments) -> Observation:
        """Return the number of lines."""
        return Observation(f"{len(bench.sandbox.read(arguments.path).splitlines())} lines")


class Counter(Agent):
    """Counts first, then fixes."""

    version = "1"

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Decide on all actions."""
        rewrite = Action("rewrite", {"path": "double.py", "new_code": FIXED})
        self._actions = iter([Action("count", {"path": "double.py"}), rewrite, Action("submit")])

    def act(self, observation: Observation) -> Decision:
        """Return the next action."""
        for action in self._actions:
            return Decision(action)
        raise GaveUp("no action is left")


class Tiny:
    """A benchmark of one task."""

    name = "tiny"
    license = "MIT"
    source = "a plug-in"

    def __init__(self, source: Source) -> None:
        """Need no data."""

    def tasks(self) -> Sequence[Task]:
        """Return the task."""
        files = {"double.py": FIXED.replace("2 *", "3 *").encode(), "test_double.py": TEST.encode()}
        return [Task("double", self.name, "double() triples.", files, readonly=(Pattern.literal("test_double.py"),))]

    def excluded(self) -> Mapping[str, str]:
        """Return no task."""
        return {}


class Plain(LocalBackend):
    """The local sandbox by another name."""

    name = "plain"


def greet(name: str) -> None:
    """Greet somebody."""
    print(f"Hello {name}")


GREETING = Page(
    title="Greeting",
    icon="waving_hand",
    description="A page of a plug-in.",
    file=Path(__file__).with_name("greeting.py"),
    notice=lambda engine: "The plug-in has something to show",
)


class VerdictRow(TypedDict):
    """A record of the format."""

    episode: int
    verdict: str


def verdicts(source: ExportSource) -> Iterator[VerdictRow]:
    """Yield the verdict of each episode."""
    for row in source.rows():
        yield {"episode": row["id"], "verdict": row["verdict"]}


VERDICTS = Exporter(verdicts, VerdictRow, "the verdict of an episode")
