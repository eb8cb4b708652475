"""Descriptions of pydantic fields for people, in generated pages and in error messages."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.fields import FieldInfo

Links = Mapping[Any, str]
"""Model -> the heading under which the same page describes it."""
_NAMES: dict[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    Path: "path of a file or folder",
}
_LIMITS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


def table(
    kind: type[BaseModel], *, heading: str = "field", label: Callable[[str], str] = str, links: Links | None = None
) -> str:
    """Return a Markdown table of a model's fields: name (mapped by `label`), type, default, and docstring."""
    rows = [f"| {heading} | type | default | description |", "| --- | --- | --- | --- |"]
    for name, field in kind.model_fields.items():
        cells = (f"`{label(name)}`", wanted(field, links), _default(field), field.description or "")
        rows.append(f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(rows) + "\n"


def wanted(field: FieldInfo, links: Links | None = None) -> str:
    """Describe the values that a field accepts, for instance `whole number, at least 1`."""
    words = [_name(field.annotation, links or {})]
    for limit in field.metadata:
        words += [f"{phrase} {getattr(limit, name):g}" for name, phrase in _LIMITS.items() if hasattr(limit, name)]
    return ", ".join(words)


def _name(kind: Any, links: Links) -> str:
    origin, members = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return " or ".join(f"`{member}`" for member in members)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_name(member, links) for member in members if member is not type(None))
    if origin is list:
        of = members[0]
        return f"list, [see below](#{links[of]})" if of in links else f"list of {_name(of, links)}s"
    if origin is dict:
        return f"names with values, [see below](#{links[members[1]]})" if members[1] in links else "fields with values"
    return f"[see below](#{links[kind]})" if kind in links else _NAMES[kind]


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default_factory is not None:
        default = field.get_default(call_default_factory=True)
        return (
            f"`{default[0]}`" if isinstance(default, list) and default else ""
        )  # other defaults depend on the machine
    return "" if field.default in (None, "") else f"`{json.dumps(field.default).strip(chr(34))}`"
