"""Events that tools report of the program."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter

from stackrank.debug_events import DebugEvent
from stackrank.env.sandbox.replies.decoder import File, Line, Name, Number, Text, Variables


@pytest.mark.parametrize(
    ("field", "reply"),
    [("file", File), ("line", Line), ("function", Name), ("locals", Variables), ("exception", Text), ("hits", Number)],
)
def test_no_reply_that_is_accepted_makes_an_event_that_is_refused(field: str, reply: Any) -> None:
    accepted, allowed = TypeAdapter(reply).json_schema(), TypeAdapter(DebugEvent).json_schema()["properties"][field]
    for limit in ("maxLength", "maximum"):
        assert allowed.get(limit, 0) >= accepted.get(limit, 0)
    assert allowed.get("minLength", 0) <= accepted.get("minLength", 0)
    if field == "locals":
        values = [schema["additionalProperties"]["maxLength"] for schema in (allowed, accepted)]
        assert values[0] >= values[1] and allowed["maxProperties"] >= 2000
