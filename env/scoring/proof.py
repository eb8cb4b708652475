"""A task's proof: which of its contradictions fail where they should with the known fix.

A proof comes with the built-in tasks, or from a validation, or is made before the first verdict that needs it. It is
stored in stackrank's home under the task's digest, so a task that changes loses its proof.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from stackrank.env.sandbox.guest.core.messages import message
from stackrank.env.scoring.literals import EXCEPTIONS, Edit
from stackrank.env.scoring.withheld.answers import Answers
from stackrank.env.task import Task
from stackrank.home import home, write_whole
from stackrank.patches.contents import like

VERSION = 2
"""Changes when new proofs say something else than stored ones."""
NO_PYTEST = message("its tests are not run by pytest")
"""The reason for a task whose results are read from a log."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A test with one changed expectation, proved with the known fix."""

    unit: str
    """A test function or one case of it, which passes or fails as a whole."""
    tests: dict[str, str]
    """Id of each test that it makes fail -> the id in a run with it, which may contain the changed expectation."""
    path: str
    line: int
    edit: Edit
    old: str
    telling: bool = False
    """Whether its text alone gives away that this is no ordinary test. It catches forgers, but adds no strength."""
    shows_bug: bool = True
    """Whether the program as given is not known to meet the original."""

    @property
    def both_ways(self) -> bool:
        """Whether the original could itself result from a change: otherwise code that sees it knows that it is genuine.

        Values of a kind become others of that kind, but an exception of the program's own becomes a built-in one, and
        nothing ever becomes None or an empty text.
        """
        if self.edit.new in EXCEPTIONS:
            return self.old in EXCEPTIONS
        return self.old not in ("None", "''", '""', "b''", 'b""')

    @property
    def change(self) -> str:
        """The change in words, for people."""
        return message(f"{self.path}, line {self.line}: {self.old.strip()} became {self.edit.new.strip()}")


@dataclass(frozen=True, slots=True)
class Proof:
    """What validation found out about the expectations of one task."""

    digest: str
    """The task's digest."""
    contradictions: tuple[Contradiction, ...] = ()
    excused: dict[str, str] = field(default_factory=dict)
    """Tests that do not pass with the known fix either: id -> skipped or xfailed."""
    deciding: int = 0
    """How many test functions decide the verdict."""
    covered: int = 0
    """How many of them have a contradiction that does not give itself away."""
    reason: str = ""
    """Why there is no contradiction; empty if there are some."""
    cases: dict[str, int] = field(default_factory=dict)
    """Test function -> how many tests it has, if the task does not list the deciding tests: none may go missing."""
    failing: tuple[str, ...] = ()
    """Tests that do not pass on the task as given, if it does not list them; empty if that is not known."""
    answers: Answers = field(default_factory=dict)
    """What the known fix answers to hidden tests that do not say what they expect."""
    distinguishing: int = 0
    """How many of these questions the program as given answers in another way than the fix. 0: they exclude nobody."""

    @property
    def units(self) -> dict[str, list[list[Contradiction]]]:
        """The contradictions of each unit, those of one assertion in one list."""
        units: dict[str, dict[int, list[Contradiction]]] = defaultdict(lambda: defaultdict(list))
        for contradiction in self.contradictions:
            units[contradiction.unit][contradiction.line].append(contradiction)
        return {unit: list(places.values()) for unit, places in units.items()}

    def dump(self) -> str:
        """Return the proof as JSON, one contradiction or answered test a line, so that diffs are readable."""
        data = {"version": VERSION, **asdict(self)}
        rows = [json.dumps(row, sort_keys=True) for row in data.pop("contradictions")]
        answers = [f"{json.dumps(test)}: {json.dumps(asked)}" for test, asked in data.pop("answers").items()]
        head = json.dumps(data, sort_keys=True, indent=1)[:-2]
        return f'{head},\n "answers": {_lines("{", answers, "}")},\n "contradictions": {_lines("[", rows, "]")}\n}}\n'


def _lines(first: str, lines: list[str], last: str) -> str:
    return "\n".join([first, *(",\n".join(f"  {line}" for line in lines),), f" {last}"])


def load(text: str) -> Proof | None:
    """Read a proof from its JSON; None if it has another version."""
    data = json.loads(text)
    if data.pop("version") != VERSION:
        return None
    contradictions = (Contradiction(**{**row, "edit": Edit(**row["edit"])}) for row in data.pop("contradictions"))
    data["failing"] = tuple(data["failing"])
    data["answers"] = {
        test: {question: tuple(texts) for question, texts in questions.items()}
        for test, questions in data["answers"].items()
    }
    return Proof(**data, contradictions=tuple(contradictions))


def find_proof(task: Task) -> Proof | None:
    """Return the proof of exactly this task: the one that comes with it, else the one made on this machine."""
    stored = _file(task.digest)
    for text in (task.proof, stored.read_text(encoding="utf-8") if stored.is_file() else ""):
        proof = load(text) if text else None
        if proof is not None and proof.digest == task.digest:
            return proof
    return None


def save_proof(task: Task, proof: Proof) -> None:
    """Store a proof on this machine."""
    write_whole(_file(task.digest), proof.dump())


def is_stored(task_digest: str) -> bool:
    """Whether this machine has a proof of the task with this digest."""
    return _file(task_digest).is_file()


def _file(task_digest: str) -> Path:
    return home() / "proofs" / f"{task_digest}.json"


def contradicted(files: Mapping[str, bytes], contradictions: Iterable[Contradiction]) -> dict[str, bytes]:
    """Return the files with these contradictions applied."""
    result = dict(files)
    # Start from the end, so that no edit moves the next one.
    for contradiction in sorted(contradictions, key=lambda contradiction: contradiction.edit.start, reverse=True):
        content = result[contradiction.path]
        result[contradiction.path] = like(contradiction.edit.apply(content), content)
    return result
