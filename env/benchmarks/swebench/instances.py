"""Instances in SWE-bench's format and its successors': JSON, JSONL, Parquet, or a data set of the Hugging Face hub."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from stackrank.env.benchmarks.base import BenchmarkError, is_hub_name
from stackrank.env.benchmarks.files import read_file
from stackrank.env.benchmarks.swebench.layouts import layout_of, names, why_refused
from stackrank.home import home

HUB = "https://huggingface.co"


_REPOSITORY = re.compile(r"[\w.-]*\w[\w.-]*/[\w.-]*\w[\w.-]*")
"""Matches owner and name; neither is `..`, because clones are looked for at this path below a folder."""


def _owner_and_name(value: str) -> str:
    if not _REPOSITORY.fullmatch(value):
        raise ValueError(f"{value[:80]!r} must look like OWNER/NAME")
    return value


Repository = Annotated[str, AfterValidator(_owner_and_name)]
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Names = Annotated[list[str], BeforeValidator(names)]


class Instance(BaseModel):
    """One row, whatever its layout (`swebench_layouts`). Fields not listed here, such as hints, are not read."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    instance_id: str = Field(pattern=r"^[A-Za-z0-9._-]+$")
    repo: Repository
    base_commit: str = Field(pattern=r"^[0-9a-f]{7,40}\^?$")
    patch: str = Field(min_length=1)
    test_patch: str
    problem_statement: Text = ""
    fail_to_pass: Names = Field(alias="FAIL_TO_PASS", min_length=1)
    pass_to_pass: Names = Field(alias="PASS_TO_PASS")
    version: str | None = None
    difficulty: str | None = None
    image: str | None = None
    log_parser: str | None = None
    eval_script: str | None = None
    planted: Text = ""
    """A patch that makes the bug, on top of the base commit."""
    test_files: list[str] = Field(default_factory=list)
    """The test files to run, if the test patch does not show them."""
    command: str | None = None
    """The whole test command, with its files."""
    install_config: dict[str, Any] | None = None
    """How the instance is built and tested, in the terms of the package's specifications."""
    directory: str = "/testbed"
    """Where the image has the repository."""


@dataclass
class Rows:
    """The rows of a source."""

    instances: list[Instance]
    problems: dict[str, str]
    """Rows that cannot be used: name -> reason."""
    unknown: dict[str, set[str]]
    """Layout -> columns that nothing reads."""


_KNOWN = frozenset(field.alias or name for name, field in Instance.model_fields.items())


def read_instances(source: Path) -> Rows:
    """Read every row of a source. Raises BenchmarkError if none can be used."""
    instances: dict[str, Instance] = {}
    problems: dict[str, str] = {}
    unknown: dict[str, set[str]] = {}
    for place, row in _rows(source):
        if isinstance(row, str):
            problems[place] = row
            continue
        layout, name = layout_of(row), str(row.get("instance_id", place))
        unknown.setdefault(layout.name, set()).update(layout.unknown(row, _KNOWN))
        try:
            fields = layout.read(row)
            name = str(fields.get("instance_id", place))
            if reason := why_refused(fields):
                problems[name] = f"{place}: {reason}"
                continue
            instance = Instance.model_validate(fields)
        except (ValueError, KeyError, TypeError) as error:
            problems[name] = f"{place}: {_sentence(error, layout.name)}: download the data again, or correct it"
            continue
        if instance.instance_id in instances:
            problems[f"{name} ({place})"] = f"{place}: duplicate instance {name}"
            continue
        instances[instance.instance_id] = instance
    if not instances:
        reason = next(iter(problems.values()), "it is empty")
        raise BenchmarkError(f"{source} contains no instance in SWE-bench's format: {reason}")
    return Rows(list(instances.values()), problems, {name: columns for name, columns in unknown.items() if columns})


def _sentence(error: Exception, layout: str) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing, which {layout} has"
    if not isinstance(error, ValidationError):
        return str(error) if isinstance(error, ValueError) else f"it is not a row of {layout} ({error})"
    problems = []
    for problem in error.errors()[:3]:
        field = str(problem["loc"][0]) if problem["loc"] else "the row"
        problems.append(f"{field} is missing" if problem["type"] == "missing" else f"{field}: {problem['msg']}")
    return "; ".join(problems)


def _rows(source: Path) -> Iterator[tuple[str, Any]]:
    """Yield (place, row) for every row; for a row that cannot be read, a sentence takes its place."""
    if not source.exists():
        yield from _parquet(_from_hub(source))
        return
    if source.is_dir():
        matches = sorted(file for pattern in ("*.json", "*.jsonl", "*.parquet") for file in source.rglob(pattern))
        files = [file for file in matches if file.is_file()]
        if not files:
            raise BenchmarkError(f"{source} contains no .json, .jsonl or .parquet file")
        for file in files:
            try:
                yield from ((f"{file.name} {place}", row) for place, row in _file_rows(file, source))
            except BenchmarkError as error:  # the other files are still read
                yield file.name, str(error)
    else:
        yield from _file_rows(source, None)


def _file_rows(file: Path, folder: Path | None) -> Iterator[tuple[str, Any]]:
    return _parquet([file]) if file.suffix == ".parquet" else _json(file, folder)


def _json(file: Path, folder: Path | None) -> Iterator[tuple[str, Any]]:
    """Read JSON (a list, or an object of instances by name) or JSONL (one object per line)."""
    content = read_file(file, inside=folder)
    try:
        data = json.loads(content)
    except ValueError:
        for number, line in enumerate(content.split(b"\n"), 1):
            if line.strip():
                yield f"line {number}", _object(line, number)
        return
    if isinstance(data, dict) and all(isinstance(instance, dict) for instance in data.values()):
        data = list(data.values())
    for number, row in enumerate(data if isinstance(data, list) else [data], 1):
        yield f"row {number}", row if isinstance(row, dict) else f"row {number} is not an object"


def _object(line: bytes, number: int) -> Any:
    try:
        row = json.loads(line)
    except ValueError as error:
        return f"line {number} is not valid JSON ({error}); the file may be truncated, so download it again"
    return row if isinstance(row, dict) else f"line {number} is not a JSON object"


def _parquet(files: list[Path]) -> Iterator[tuple[str, Any]]:
    import pyarrow.parquet
    from pyarrow import ArrowException

    for file in files:
        try:
            rows = pyarrow.parquet.read_table(file).to_pylist()
        except (ArrowException, OSError) as error:
            raise BenchmarkError(
                f"{file} is not a Parquet file ({str(error).splitlines()[0]}): download it again"
            ) from None
        yield from ((f"row {number}", row) for number, row in enumerate(rows, 1))


def _from_hub(source: Path) -> list[Path]:
    """Return the Parquet files of a data set's test split, kept in stackrank's home. Raises BenchmarkError."""
    import httpx

    name = source.as_posix()
    if not is_hub_name(name):
        raise BenchmarkError(f"{source} does not exist: name a file, or a data set on the hub such as owner/name")
    folder = home() / "datasets" / name.replace("/", "--")
    if files := sorted(folder.glob("*.parquet")):
        return files
    try:
        answer = httpx.get(f"{HUB}/api/datasets/{name}/parquet", follow_redirects=True, timeout=30).raise_for_status()
        splits = next(iter(answer.json().values()))
        urls = splits.get("test") or next(iter(splits.values()))
        folder.mkdir(parents=True, exist_ok=True)
        for number, url in enumerate(urls):
            content = httpx.get(url, follow_redirects=True, timeout=300).raise_for_status().content
            part = folder / f"{number}.part"
            part.write_bytes(content)
            part.rename(folder / f"{number}.parquet")
    except (httpx.HTTPError, ValueError, StopIteration, AttributeError) as error:
        reason = str(error) or type(error).__name__
        raise BenchmarkError(
            f"the data set {name} cannot be downloaded from the hub ({reason}): name a file instead"
        ) from None
    return sorted(folder.glob("*.parquet"))
