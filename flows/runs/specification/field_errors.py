"""Describes what is wrong with a field: its name, what it should be, and what it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic_core import ErrorDetails

# Pydantic's kinds of errors (https://docs.pydantic.dev/latest/errors/validation_errors/).
_SHOULD_BE: Mapping[str, str] = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "dict_type": "fields with values",
    "model_type": "fields with values",
}
_LIMITS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "greater_than_equal": lambda context: f"at least {context['ge']}",
    "greater_than": lambda context: f"more than {context['gt']:g}",
    "less_than_equal": lambda context: f"at most {context['le']}",
    "less_than": lambda context: f"less than {context['lt']:g}",
    "literal_error": lambda context: str(context["expected"]).replace("'", ""),
}
_SHOWN = 80
"""Most characters of a wrong value that a message repeats."""


def problem(error: ErrorDetails, field_names: Sequence[str]) -> str:
    """Describe one error in words. `field_names`: the valid fields at its place."""
    kind, context = error["type"], error.get("ctx", {})
    field = ".".join(str(part) for part in error["loc"])
    if kind == "extra_forbidden":
        similar = get_close_matches(str(error["loc"][-1]), field_names, n=1)
        return f"unknown field {field}: " + (
            f"did you mean {similar[0]}?" if similar else f"use {', '.join(field_names)}"
        )
    if kind == "missing":
        return f"{field} is missing"
    if kind in _LIMITS or kind in _SHOULD_BE:
        should = _LIMITS[kind](context) if kind in _LIMITS else _SHOULD_BE[kind]
        return f"{field} must be {should}, not {_shown(error['input'])}"
    message = error["msg"].removeprefix("Value error, ")
    return f"{field}: {message} (it is {_shown(error['input'])})" if field else message


def _shown(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
