"""Decodes what a sandbox says. Code in a sandbox may have taken the guest over, so nothing is believed.

Every value is of the type that its shape names, within its bounds, and no field is missing. A text can be stored and
shown: NUL and halves of surrogate pairs are replaced. What does not fit raises `BadReply`, and nothing else is raised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, FailFast, Field, TypeAdapter, ValidationError

from stackrank.env.sandbox.base import BadReply
from stackrank.storable import storable_json
from stackrank.wording import count_of

_UNSTORABLE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")

Shape = TypeVar("Shape")
Item = TypeVar("Item")

Number = Annotated[int, Field(ge=0, le=1 << 53)]
"""A count, or the number of something."""
Line = Annotated[int, Field(ge=0, le=1 << 31)]
"""The number of a line; 0 if the code has none."""
Status = Annotated[int, Field(ge=-255, le=255)]
"""How a process ended: its exit status, or the negative number of the signal that killed it."""
Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Milliseconds = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
Name = Annotated[str, Field(max_length=128 << 10)]
"""A name that a program chose: of a function, a variable, a test, a file that need not be in the workspace."""
File = Annotated[str, Field(min_length=1, max_length=128 << 10)]
"""The path of a file, which need not be in the workspace, or what Python calls code without one, such as `<string>`."""
Text = Annotated[str, Field(max_length=8 << 20)]
"""What a program or the guest said, on any number of lines."""


def plain_path(path: str) -> str:
    """Return `path` if it names a file below the workspace in canonical form. Raises BadReply."""
    if not {"", ".", ".."}.isdisjoint(path.split("/")) or "\0" in path:
        raise BadReply(f"{path[:200]!r} is not a path below the workspace")
    return path


def _path(path: str) -> str:
    try:
        return plain_path(path)
    except BadReply as error:
        raise ValueError(str(error)) from None


FilePath = Annotated[str, Field(max_length=64 << 10), AfterValidator(_path)]
"""The path of a file or a folder below the workspace, in canonical form."""


def _at_most(count: int) -> Callable[[Any], Any]:
    def check(table: Any) -> Any:
        # Before its items are looked at: there would be an error for each.
        if isinstance(table, dict) and len(table) > count:
            raise ValueError(f"has more than {count_of(count, 'item')}")
        return table

    return check


MOST_TESTS = 20_000
"""The most tests whose outcomes a debugger or an observer reports."""
Many = Annotated[tuple[Item, ...], FailFast(), Field(max_length=200_000)]
"""Any number of values that programs cause, such as the paths of files."""
Few = Annotated[tuple[Item, ...], FailFast(), Field(max_length=2000)]
"""A number of values that the guest limits."""
Variables = Annotated[dict[Name, Text], BeforeValidator(_at_most(2000))]
"""Name of a variable or an expression -> its value as text."""
Counts = Annotated[dict[Name, Number], BeforeValidator(_at_most(2000))]
Outcomes = Annotated[dict[Name, Name], BeforeValidator(_at_most(MOST_TESTS))]
"""Id of a test -> how it ended, in the words of the program that ran it."""


_adapters: dict[Any, TypeAdapter[Any]] = {}
_anything: TypeAdapter[Any] = TypeAdapter(Any)


def decode(shape: type[Shape], data: bytes) -> Shape:
    """Return the JSON document as a value of this shape. Raises BadReply.

    If an object has a key twice, the last value counts. Keys that the shape does not have are left out.
    """
    try:
        if _UNSTORABLE.search(data):
            data = json.dumps(storable_json(json.loads(data))).encode()
        if shape not in _adapters:
            _adapters[shape] = TypeAdapter(shape)
        value: Shape = _adapters[shape].validate_json(data, strict=True)
        return value
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, problem["loc"]))
        raise BadReply(f"{place[:200]}{': ' if place else ''}{problem['msg'][:400]}") from None
    except (ValueError, RecursionError) as error:
        raise BadReply(f"not valid JSON: {str(error)[:200]}") from None


def to_json(value: Any) -> Any:
    """Return a decoded value as objects, lists, texts and numbers, as a step's state keeps it."""
    return _anything.dump_python(value, mode="json")
