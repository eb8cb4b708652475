"""What a debugging tool saw of the program: places that it watched or reached, and where the program stood or failed.

Every tool may report such events in the state of its observation, under `KEY`: the built-in ones, those of plug-ins,
and MCP servers in the structured content of a result. Milestones and failure points are worked out from these events,
and from no debugger's wording.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Required

from pydantic import ConfigDict, FailFast, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

KEY: Final = "debug_events"
"""The field of a state, or of an MCP server's structured content, that holds the events."""
# As large as the decoder of replies allows: no reply that it accepts makes an event that is refused.
_Name = Annotated[str, Field(max_length=128 << 10)]
_Text = Annotated[str, Field(max_length=8 << 20)]


class DebugEvent(TypedDict, total=False):
    """One event. Only `raised` and `failed` may lack `file` and `line`, if the place is not known."""

    __pydantic_config__ = ConfigDict(strict=True)  # type: ignore[misc]

    event: Required[Literal["watched", "reached", "paused", "raised", "failed"]]
    """watched: a breakpoint or a probe was set there. reached: the program came by a watched place, and values were
    shown. paused: the program stands there, or stood there during this step. raised: an exception was raised there.
    failed: the program, or one of its tests, failed there."""
    file: Annotated[_Name, Field(min_length=1)]
    """The path of the file, relative to the workspace or absolute."""
    line: Annotated[int, Field(ge=0, le=1 << 31)]
    """Counted from 1; 0 if the code has no line."""
    function: _Name
    """The function's name, qualified by its class if it has one."""
    locals: Annotated[dict[_Name, _Text], Field(max_length=2000)]
    """Name of a variable -> its value as text."""
    exception: _Text
    """The exception as `Type: message`."""
    hits: Annotated[int, Field(ge=0, le=1 << 53)]
    """How often the program came by, for `watched` and `reached`."""


def read_events(value: Any) -> list[DebugEvent]:
    """Return events that a tool or a server reports. Raises ValueError with what is wrong.

    Nothing is converted: a line is a whole number, a value is a text. Fields that an event does not have are left out.
    """
    try:
        events = _events().validate_python(value)
    except (ValidationError, RecursionError) as error:
        problem = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": "nested too deep"}
        place = ".".join([KEY, *map(str, problem["loc"])])
        raise ValueError(f"{place[:200]} is not valid: {problem['msg'][:200]}") from None
    for number, event in enumerate(events):
        if event["event"] not in ("raised", "failed") and not {"file", "line"} <= event.keys():
            raise ValueError(f"{KEY}.{number} is not valid: the event {event['event']} needs a file and a line")
    return events


@functools.cache
def _events() -> TypeAdapter[list[DebugEvent]]:
    return TypeAdapter(Annotated[list[DebugEvent], FailFast(), Field(max_length=500_000)])


def relative_path(path: str, root: str) -> str:
    """Return a path relative to the workspace, if it names a file there. `root`: where the workspace is."""
    for prefix in (root.rstrip("/") + "/", "/workspace/", "./"):
        path = path.removeprefix(prefix)
    return path


def with_stop(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored state with the place where the program stood last, if only its events say so.

    `file`, `line`, `function`, `locals` and `exception` are then those of the event, as in the states of pdb.
    """
    if state.get("file") or not isinstance(state.get(KEY), list):
        return dict(state)
    rows = [row for row in state[KEY] if isinstance(row, dict) and row.get("file")]
    stops = [row for row in rows if row.get("event") in ("paused", "raised", "failed")]
    place = {name: value for name, value in stops[-1].items() if name not in ("event", "hits")} if stops else {}
    return {**state, **place}


def watched_places(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return `file` and `line` of the places that a stored state says were watched."""
    rows = state[KEY] if isinstance(state.get(KEY), list) else []
    return [row for row in rows if isinstance(row, dict) and row.get("event") in ("watched", "reached")]
