"""Changes of tasks with a label, right or wrong, and their author; and the files that contain them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypedDict

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.files import read_patch
from stackrank.env.patches import PatchError, apply_patch
from stackrank.env.sandbox.client import Changes
from stackrank.env.task import Task
from stackrank.flows.runs.afterwards.export.exporter import Exporter
from stackrank.flows.runs.afterwards.export.source import ExportSource
from stackrank.patches.contents import encoding_of, like

Label = Literal["right", "wrong"]
_LABELS: tuple[Label, ...] = ("right", "wrong")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Edit(_Strict):
    """A piece of a file, and what replaces it."""

    path: str
    old: str
    """Stands in the file exactly once. Empty: the file is new, and `new` is its content."""
    new: str


class Reading(_Strict):
    """What a second reader says about a change that got an unexpected verdict."""

    by: str
    label: Label
    why: str


class LabelledChange(_Strict):
    """One change of a task, as `edits` or as `diff`."""

    task: str
    label: Label
    """What its author meant it to be."""
    author: str
    edits: tuple[Edit, ...] = ()
    diff: str = ""
    note: str = ""
    """What its author did: the kind of mistake, or how the repair differs from others."""
    witness: str = ""
    """Python code that prints something else with the known fix than with a wrong change."""
    reading: Reading | None = None

    @model_validator(mode="after")
    def _has_one_form(self) -> LabelledChange:
        if bool(self.edits) == bool(self.diff):
            raise ValueError("give either edits or a diff")
        return self

    @property
    def final_label(self) -> Label:
        """The second reader's label if there is one, else the author's."""
        return self.reading.label if self.reading else self.label

    def apply(self, task: Task) -> Changes:
        """Return the changed files. Raises BenchmarkError if the change does not fit the task's files."""
        try:
            files = apply_patch(task.files, self.diff) if self.diff else self._edited(task.files)
        except PatchError as error:
            raise BenchmarkError(f"{task.id}: {error}") from None
        changed = {path: content for path, content in files.items() if task.files.get(path) != content}
        return Changes(files=changed, deleted=tuple(path for path in task.files if path not in files))

    def _edited(self, given: Mapping[str, bytes]) -> dict[str, bytes]:
        files = dict(given)
        for edit in self.edits:
            encoding = encoding_of(files.get(edit.path, b""), edit.path)
            if encoding is None:
                raise PatchError(f"{edit.path} is a binary file, which only a diff can change")
            text = files.get(edit.path, b"").decode(encoding)
            if not edit.old and edit.path not in files:
                files[edit.path] = edit.new.encode()
                continue
            if not edit.old or (count := text.count(edit.old)) != 1:
                times = f"{count} times" if edit.old else "although it should be a new file"
                raise PatchError(f"{edit.path} has this text {times} instead of once: {edit.old[:80]!r}")
            files[edit.path] = like(text.replace(edit.old, edit.new).encode(encoding), files[edit.path])
        return files


def read_changes(path: Path) -> list[LabelledChange]:
    """Read the changes of a JSONL file, or of a folder of patches `LABEL/AUTHOR/TASK.patch`. Raises BenchmarkError.

    A second patch of the same task is called `TASK.2.patch`. Lines of JSONL that start with `#` are comments.
    """
    if path.is_dir():
        changes = [
            LabelledChange(
                task=file.name.partition(".")[0],
                label=label,
                author=file.parent.name,
                diff=read_patch(file, inside=path),
            )
            for label in _LABELS
            for file in sorted(path.glob(f"{label}/*/*.patch"))
        ]
    elif path.is_file():
        lines = enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        changes = [_parse(path, number, line) for number, line in lines if line.strip() and not line.startswith("#")]
    else:
        raise BenchmarkError(f"{path} does not exist: name a JSONL file or a folder of patches with --changes")
    if not changes:
        raise BenchmarkError(f"{path} contains no change: expected right/AUTHOR/TASK.patch or wrong/AUTHOR/TASK.patch")
    return changes


def _parse(path: Path, number: int, line: str) -> LabelledChange:
    try:
        return LabelledChange.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise BenchmarkError(f"{path}:{number}: {f'{field}: ' if field else ''}{first['msg']}") from None


class ProposedChange(TypedDict):
    """What an episode changed, as `read_changes` reads it."""

    task: str
    label: Label
    """Always `right`, which is what its entrant meant it to be."""
    author: str
    """The entrant."""
    diff: str
    note: str
    """The episode, and what its run covers."""


def _of_run(source: ExportSource) -> Iterator[ProposedChange]:
    """Yield what each episode changed, as a change that its entrant meant to be right."""
    for row in source.whole():
        if row["diff"]:
            note = f"episode {row['id']} of {source.sentence}"
            yield {"task": row["task"], "label": "right", "author": row["entrant"], "diff": row["diff"], "note": note}


CHANGES = Exporter(_of_run, ProposedChange, "an episode's change, for `stackrank validate --rates`")
