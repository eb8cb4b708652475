"""The run specification described, from the specification itself."""

from __future__ import annotations

import inspect
import json
import types
import typing
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from flows.spec import PARTS, EntrantSpec, RunSpec

_HEAD = """\
# The run specification

<!-- Made by `stackrank spec`; a test keeps it up to date. -->

A run is described by a YAML file with these fields, or by the flags of `stackrank run`, which override the file. The
same description as JSON schema, for editors: `stackrank spec --json`.
Examples are in [deploy/examples](../deploy/examples).
"""


def describe() -> str:
    """All fields as Markdown."""
    parts = [_HEAD, "## A run\n", _table(RunSpec)]
    for name, kind in PARTS.items():
        parts += [f"## `{name}`\n", f"{inspect.getdoc(kind)}\n", _table(kind)]
    parts.append(
        "With `--agent`, `--model` or `--tools`, the flags replace all entrants; what they leave open comes from the "
        "file's matrix:\n`stackrank run deploy/examples/paper.yaml --model MODEL --model ANOTHER`."
    )
    return "\n".join(parts) + "\n"


def _table(kind: type[BaseModel]) -> str:
    rows = ["| field | type | default | what it is |", "| --- | --- | --- | --- |"]
    for name, field in kind.model_fields.items():
        cells = (f"`{name}`", _type(field), _default(field), field.description or "")
        rows.append(f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(rows) + "\n"


_NAMES: dict[Any, str] = {str: "text", int: "whole number", float: "number", bool: "true or false"}


def _type(field: FieldInfo) -> str:
    limits = {type(limit).__name__: limit for limit in field.metadata}
    words = [_name(field.annotation)]
    for kind, attribute, said in (
        ("Ge", "ge", "at least"),
        ("Gt", "gt", "more than"),
        ("Le", "le", "at most"),
        ("Lt", "lt", "less than"),
    ):
        if kind in limits:
            words.append(f"{said} {getattr(limits[kind], attribute):g}")
    return ", ".join(words)


def _name(kind: Any) -> str:
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return " or ".join(f"`{each}`" for each in inside)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_name(each) for each in inside if each is not type(None))
    if origin is list:
        return "list, [see below](#entrants)" if inside[0] is EntrantSpec else f"list of {_name(inside[0])}s"
    if origin is dict:
        return "fields with values"
    part = next((name for name, each in PARTS.items() if each is kind), None)
    return f"[see below](#{part})" if part else _NAMES[kind]


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "needed"
    if field.default_factory is not None:
        made = field.get_default(call_default_factory=True)
        return f"`{made[0]}`" if isinstance(made, list) and made else ""  # others hang on the machine
    return "" if field.default in (None, "") else f"`{json.dumps(field.default).strip(chr(34))}`"
