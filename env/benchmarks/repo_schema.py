"""The schema of `tasks.yaml`: a user's own bugs. One model, for reading, for writing and for the reference."""

from __future__ import annotations

import re
from datetime import date
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.files import read_text
from stackrank.yaml_text import load_yaml

TASKS_FILE = "tasks.yaml"


def _inside(value: str) -> str:
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts:
        raise ValueError("the path leaves the folder of this file")
    return value


def _patch(value: str) -> str:
    return value if is_diff(value) else _inside(value)


def _id(value: str) -> str:
    if value in (".", ".."):
        raise ValueError("not a name")
    return value


def id_from(name: str) -> str:
    """Turn a folder's name into a valid id."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.") or "task"


def is_diff(value: str) -> bool:
    """Whether the value of `apply`, `test_patch` or `fix` is the diff itself and not the path of a file."""
    return "\n" in value


InsidePath = Annotated[str, AfterValidator(_inside)]
PatchOrPath = Annotated[str, AfterValidator(_patch)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class LimitsEntry(_Model):
    """Resource limits of one sandbox."""

    memory_mb: int = Field(default=1024, ge=64, description="Memory in megabytes.")
    pids: int = Field(default=256, ge=16, description="Number of processes and threads.")
    cpus: float = Field(default=1.0, gt=0, description="Number of processors.")
    disk_mb: int = Field(default=256, ge=16, description="Size of all files in megabytes. They are kept in memory.")


class DefaultsEntry(_Model):
    """Defaults for all tasks."""

    timeout_s: float = Field(
        default=60, gt=0, description="Time limit of one command in seconds, including the test command."
    )
    image: str | None = Field(default=None, description="Container image with a Python. Default: the sandbox's image.")
    limits: LimitsEntry = Field(default_factory=LimitsEntry, description="Resource limits of a sandbox.")


class SourceEntry(_Model):
    """Where a task's files come from: `path`, or `git` and `commit`."""

    path: InsidePath | None = Field(default=None, description="A folder, relative to this file and within its folder.")
    git: str | None = Field(default=None, description="A git repository: a URL, or a path relative to this file.")
    commit: str | None = Field(default=None, min_length=4, description="The commit of `git`.")
    subdir: InsidePath = Field(default=".", description="The folder of the repository that is the workspace.")

    @model_validator(mode="after")
    def _one_of(self) -> SourceEntry:
        if (self.path is None) == (self.git is None):
            raise ValueError("name either path or git")
        if (self.git is None) != (self.commit is None):
            raise ValueError("git and commit go together")
        if self.path is not None and self.subdir != ".":
            raise ValueError("subdir goes with git")
        return self


class PythonEntry(_Model):
    """The Python of a task."""

    version: str | None = Field(
        default=None, description="For instance `3.11`. Default: the sandbox's version.", pattern=r"^3\.\d+$"
    )
    requirements: list[str] = Field(default_factory=list, description="Requirements that pip installs.")


class TaskEntry(_Model):
    """One bug."""

    id: Annotated[str, AfterValidator(_id)] = Field(
        pattern=r"^[A-Za-z0-9._-]+$",
        description="Name of the task, unique in this file: letters, digits, `.`, `_`, `-`.",
    )
    source: SourceEntry = Field(description="Where the files come from.")
    test: str = Field(min_length=1, description="The test command, run by `sh` in the workspace; agents see it.")
    title: str = Field(default="", description="A short title for lists.")
    statement: str = Field(default="", description="Description of the bug that agents get.")
    setup: list[str] = Field(
        default_factory=list, description="Commands that run once, with network access, when the environment is built."
    )
    python: PythonEntry = Field(default_factory=PythonEntry, description="Python version and requirements.")
    fail_to_pass: list[str] = Field(
        default_factory=list, description="Tests that the fix makes pass. Empty: the whole command must succeed."
    )
    pass_to_pass: list[str] = Field(
        default_factory=list, description="Tests that pass before the fix and must pass after it."
    )
    faults: dict[str, list[str]] = Field(
        default_factory=dict,
        description="If the task has several faults: name -> those of `fail_to_pass` that show it. The outcome of an "
        "episode is then the share of mended faults.",
    )
    apply: PatchOrPath | None = Field(
        default=None, description="A diff that plants the bug: a path, or the diff itself."
    )
    test_patch: PatchOrPath | None = Field(
        default=None, description="A diff that adds tests. Agents see it too, unless `hidden_tests` is set."
    )
    hidden_tests: bool = Field(default=False, description="Whether `test_patch` is applied only for the verdict.")
    shows_bug: bool | None = Field(
        default=None,
        description="Whether tests that agents see fail because of the bug. Default: if no test that judges is hidden.",
    )
    status_decides: bool = Field(
        default=False,
        description="Whether the exit status of `test` is the verdict, although nothing reports which tests ran.",
    )
    fix: PatchOrPath | None = Field(
        default=None, description="The known fix: a diff against what the agent sees. Default: `apply` reversed."
    )
    readonly: list[str] = Field(
        default_factory=list, description="Files that agents see but may not edit, in gitignore syntax."
    )
    hidden: list[str] = Field(
        default_factory=list, description="Files that agents never see, for the verdict only, in gitignore syntax."
    )
    editable: list[str] = Field(
        default_factory=list,
        description="Files that agents may edit. Empty: all files that are not read-only or hidden.",
    )
    category: str = Field(default="", description="Kind of bug, for grouping on pages.")
    difficulty: Literal["", "easy", "medium", "hard"] = Field(default="", description="`easy`, `medium` or `hard`.")
    tags: list[str] = Field(default_factory=list, description="Keywords for searching.")
    toolchain: str = Field(
        default="",
        pattern=r"^[a-z0-9_-]*$",
        description="The language, such as `go`, if the program is not in Python: the sandbox then has its tools.",
    )
    results: str = Field(
        default="",
        description="How each test's result is read from what `test` prints, if it is not pytest, such as `go`. "
        "Default: the exit status counts.",
    )
    timeout_s: float | None = Field(default=None, gt=0, description="As in `defaults`.")
    image: str | None = Field(default=None, description="As in `defaults`.")
    limits: LimitsEntry | None = Field(default=None, description="As in `defaults`.")


class TasksFile(_Model):
    """A whole `tasks.yaml`."""

    schema_: Literal[1] = Field(alias="schema", description="Version of this format: 1.")
    name: str = Field(default="", description="Name of the set.")
    license: str = Field(default="", description="Licence of the tasks.")
    defaults: DefaultsEntry = Field(default_factory=DefaultsEntry, description="See below.")
    tasks: list[TaskEntry] = Field(min_length=1, description="The bugs.")


def table(model: type[BaseModel]) -> list[str]:
    """Return the rows of a Markdown table of fields: `name`, description."""
    return [f"| `{field.alias or name}` | {field.description} |" for name, field in model.model_fields.items()]


def write_tasks(file: Path, content: TasksFile) -> None:
    """Write a `tasks.yaml`; fields with their default values are left out."""
    data = content.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    file.write_text(text, encoding="utf-8")


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines, such as diffs, as blocks."""


def _text(dumper: yaml.SafeDumper, value: str) -> ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)


def read_tasks(file: Path) -> tuple[TasksFile, dict[str, str]]:
    """Return the file's content, and the tasks in it that cannot be used: id -> reason, which names line and field.

    The file is YAML or JSON. Raises BenchmarkError if the file as a whole cannot be used.
    """
    try:
        text = read_text(file)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        data = load_yaml(text)
    except (yaml.YAMLError, ValueError) as error:
        raise BenchmarkError(f"{file} is neither YAML nor JSON: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(data, dict) or not isinstance(node, MappingNode):
        raise BenchmarkError(f"{file} is not a list of tasks: it needs the fields `schema: 1` and `tasks:`")
    entries = data.get("tasks")
    problems: dict[str, str] = {}
    good: list[Any] = []
    names: dict[str, int] = {}
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        name = str(entry.get("id", f"task {index + 1}")) if isinstance(entry, dict) else f"task {index + 1}"
        line = _line(node, ("tasks", index))
        try:
            TaskEntry.model_validate(entry)
        except ValidationError as error:
            problems[name] = _sentence(error, node, ("tasks", index))
            continue
        if name in names:
            problems[f"{name} (line {line})"] = f"line {line}: the task in line {names[name]} already has the id {name}"
            continue
        names[name] = line
        good.append(entry)
    if problems and not good:
        name, reason = next(iter(problems.items()))
        raise BenchmarkError(f"{file} has no usable task: {name}: {reason}")
    try:
        return TasksFile.model_validate({**data, "tasks": good} if good else data), problems
    except ValidationError as error:
        raise BenchmarkError(f"{file}: {_sentence(error, node, ())}") from None


def _sentence(error: ValidationError, node: Node, above: tuple[str | int, ...]) -> str:
    problems = []
    for problem in error.errors()[:3]:
        place = tuple(problem["loc"])
        field = ".".join(str(part) for part in place if isinstance(part, str)) or "task"
        line = _line(node, (*above, *place))
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            similar = get_close_matches(str(place[-1]), _fields(), n=1)
            message = "not a field" + (f", did you mean {similar[0]}?" if similar else "")
        elif problem["type"] == "missing":
            message = "missing"
        elif problem["type"] == "string_type" and isinstance(problem["input"], int | float | date):
            message = f"YAML reads {problem['input']} where text is expected: put it in quotes"
        problems.append(f"line {line}: {field}: {message}")
    return "; ".join(problems)


def _fields() -> list[str]:
    models = (TasksFile, DefaultsEntry, LimitsEntry, TaskEntry, SourceEntry, PythonEntry)
    return [field.alias or name for model in models for name, field in model.model_fields.items()]


def _line(node: Node, place: tuple[str | int, ...]) -> int:
    """Return the line (1-based) of a field, or, if it is missing, of the object that should have it."""
    line = node.start_mark.line + 1
    for part in place:
        if isinstance(node, MappingNode):
            pair = next(((key, value) for key, value in node.value if key.value == part), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line
