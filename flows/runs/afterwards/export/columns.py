"""The columns of an export: a format's row type says what they hold, in every kind of file.

A row type is a TypedDict or a dataclass. Numbers, truth values and text are what they are annotated as; a list is a
list, and a row type within a row type is a record. Everything else, such as a dictionary whose keys are data, or a
value that may have several types, is one JSON text: readers that want one type a column can read it.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import itertools
import sys
import textwrap
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, NotRequired, Required

from stackrank.errors import PluginError
from stackrank.source import parse_python
from stackrank.wording import as_json

Kind = Literal["whole number", "number", "true or false", "text", "JSON text", "list", "record"]
_PLAIN: Mapping[Any, Kind] = {bool: "true or false", int: "whole number", float: "number", str: "text"}
_PYTHON: Mapping[str, type | tuple[type, ...]] = {
    "whole number": int,
    "number": (int, float),
    "true or false": bool,
    "text": str,
    "list": (list, tuple),
    "record": Mapping,
}
_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True)
class Column:
    """What one field of a record holds."""

    kind: Kind
    optional: bool = False
    """Whether the value may be missing, which is null."""
    items: Column | None = None
    """What a list consists of."""
    fields: Mapping[str, Column] = field(default_factory=dict)
    """What a record consists of."""
    description: str = ""

    @property
    def type_name(self) -> str:
        """The type in words, for people."""
        return f"list of {self.items.type_name}s" if self.items else self.kind

    def parts(self, name: str) -> Iterator[tuple[str, Column]]:
        """Yield the column, and those of the records in it, with names such as `steps[].index`."""
        yield name, self
        inner, suffix = self, name
        while inner.items:
            inner, suffix = inner.items, f"{suffix}[]"
        for part, column in inner.fields.items():
            yield from column.parts(f"{suffix}.{part}")


Columns = Mapping[str, Column]


@functools.cache
def columns_of(row: Any) -> Columns:
    """Return the columns of a row type, in the order of its fields."""
    descriptions = _descriptions(row)
    return {
        name: dataclasses.replace(_column(hint, _is_optional(row, name)), description=descriptions.get(name, ""))
        for name, hint in typing.get_type_hints(row, include_extras=True).items()
    }


def typed_record(record: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
    """Return the record with exactly these columns, null where it has no value.

    Raises PluginError if a value does not have the type of its column, or the record has another field.
    """
    return dict.fromkeys(columns) | _typed_fields(record, columns, "")


def _is_row(hint: Any) -> bool:
    return typing.is_typeddict(hint) or (isinstance(hint, type) and dataclasses.is_dataclass(hint))


def _is_optional(row: Any, name: str) -> bool:
    if dataclasses.is_dataclass(row):
        return any(part.name == name and part.default is not dataclasses.MISSING for part in dataclasses.fields(row))
    return name in row.__optional_keys__


def _column(hint: Any, optional: bool = False) -> Column:
    origin, members = typing.get_origin(hint), typing.get_args(hint)
    if origin in (NotRequired, Required):
        return _column(members[0], origin is NotRequired)
    if origin is typing.Annotated:
        return _column(members[0], optional)
    if origin in (typing.Union, types.UnionType) and type(None) in members:
        rest = [member for member in members if member is not type(None)]
        return _column(typing.Union[tuple(rest)], True)  # noqa: UP007
    if origin is Literal and all(isinstance(member, str) for member in members):
        return Column("text", optional)
    if origin in (list, tuple) and (len(members) == 1 or (len(members) == 2 and members[1] is Ellipsis)):
        items = _column(members[0])
        return Column("JSON text", optional) if items.kind == "JSON text" else Column("list", optional, items)
    if _is_row(hint):
        return Column("record", optional, fields=columns_of(hint))
    if isinstance(hint, type) and issubclass(hint, str) and issubclass(hint, Enum):
        return Column("text", optional)
    return Column(_PLAIN.get(hint, "JSON text"), optional)


def _typed_fields(record: Mapping[str, Any], columns: Columns, place: str) -> dict[str, Any]:
    if unknown := record.keys() - columns.keys():
        raise PluginError(f"the record has the field {place}{min(unknown)}, which its row type does not have")
    return {name: _typed(record.get(name), column, f"{place}{name}") for name, column in columns.items()
            if name in record or not column.optional}  # fmt: skip


def _typed(value: Any, column: Column, place: str) -> Any:
    kind = column.kind
    if value is None and column.optional:
        return None
    if kind == "JSON text":
        return as_json(value)
    if not _fits(value, kind):
        raise PluginError(f"{place} is {repr(value)[:80]}, and has to be a {column.type_name}")
    if kind == "number":
        return float(value)
    if kind == "text":
        return str(value)
    if column.items:
        return [_typed(item, column.items, f"{place}[]") for item in value]
    return _typed_fields(value, column.fields, f"{place}.") if kind == "record" else value


def _fits(value: Any, kind: Kind) -> bool:
    if isinstance(value, bool):
        return kind == "true or false"
    return isinstance(value, _PYTHON[kind]) and (kind != "whole number" or value in _INT64)


def _descriptions(row: Any) -> dict[str, str]:
    """Return field -> the docstring below it, of a row type and those that it extends."""
    try:
        definition = parse_python(textwrap.dedent(inspect.getsource(row))).body[0]
    except (OSError, TypeError):  # made by a call, not by a class statement
        return {}
    assert isinstance(definition, ast.ClassDef)
    found: dict[str, str] = {}
    for base in definition.bases:
        kind = getattr(sys.modules[row.__module__], ast.unparse(base), None)
        if kind is not row and _is_row(kind):
            found |= _descriptions(kind)
    for statement, following in itertools.pairwise(definition.body):
        match statement, following:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = " ".join(text.split())
    return found
