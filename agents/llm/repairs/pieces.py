"""Joins the pieces of a streamed message, however a server numbers them."""

from __future__ import annotations

import copy
from typing import Any

from stackrank.agents.llm.repairs.json_object import Unclear, decode
from stackrank.agents.llm.syntaxes.tool_call import arguments_text

_TEXT = {"type": "text"}
_REPEATED = ("role", "type", "index", "id", "format")
"""Fields that the pieces of a stream repeat instead of continuing."""


def merge_piece(target: dict[str, Any], piece: dict[str, Any]) -> None:
    """Merge a piece of a stream into `target`: texts and lists grow, and items with an `index` are merged by index."""
    for name, value in piece.items():
        current = target.get(name)
        if isinstance(current, list) and isinstance(value, str):
            value = [_TEXT | {"text": value}] if value else None
        elif isinstance(current, str) and isinstance(value, list):
            current = target[name] = [_TEXT | {"text": current}] if current else []
        if current is None or name in _REPEATED:
            # Some servers repeat these fields as empty texts.
            target[name] = copy.deepcopy(value) if current in (None, "") else current
        elif isinstance(current, str) and isinstance(value, str):
            # Some servers repeat a call's name with each piece of its arguments.
            target[name] = current if name == "name" and current == value else current + value
        elif isinstance(current, dict) and isinstance(value, dict):
            merge_piece(current, value)
        elif not isinstance(current, list) or not isinstance(value, list):
            target[name] = current if value is None else value
        if isinstance(value, list) and value:
            target[name] = _join_lists(current or [], value)


def _join_lists(target: list[Any], pieces: list[Any]) -> list[Any]:
    places = {part.get("index"): part for part in target if isinstance(part, dict) and "index" in part}
    for piece in pieces:
        place = _find_part(target, places, piece)
        if place is not None:
            merge_piece(place, piece)
        else:
            target.append(copy.deepcopy(piece))
            if isinstance(piece, dict) and "index" in piece:
                places[piece["index"]] = target[-1]
    return target


def _find_part(parts: list[Any], places: dict[Any, dict[str, Any]], piece: Any) -> dict[str, Any] | None:
    """Return the part that a piece continues; None if it begins a new part."""
    if not isinstance(piece, dict):
        return None
    if piece.get("index") is not None:
        place = places.get(piece["index"])
        if place is None or not _starts_new_part(place, piece):
            return place
    elif piece.get("id"):
        place = next((part for part in parts[::-1] if isinstance(part, dict) and part.get("id") == piece["id"]), None)
        return None if place is None or _starts_new_part(place, piece) else place
    return parts[-1] if parts and _continues(parts[-1], piece) else None


def _starts_new_part(part: dict[str, Any], piece: dict[str, Any]) -> bool:
    """Return whether a piece begins a new part at the same index: some servers give every call the index 0, or number
    each kind of thought separately; others give every call the same id, or say a whole call again at its end."""
    if part.get("type") and piece.get("type") and part["type"] != piece["type"]:
        return True
    known, function = (call.get("function") or {} for call in (part, piece))
    if not function.get("name"):
        return False
    has_ids = bool(part.get("id") and piece.get("id"))
    if has_ids and part["id"] != piece["id"]:
        return True
    text = arguments_text(function.get("arguments"))
    before, now = _object(arguments_text(known.get("arguments"))), _object(text)
    if not before or before == now:
        return False
    return bool(now) or (not has_ids and text.startswith("{"))


def _object(text: str) -> Any:
    """Return the JSON object that a text is; None if it is none, or not all of it."""
    try:
        return decode(text)
    except Unclear:
        return None


def _continues(part: Any, piece: dict[str, Any]) -> bool:
    """Return whether a piece that does not say where it belongs continues the part before it.

    Texts do, thoughts do until they are signed, and calls do until the next one is named.
    """
    if not isinstance(part, dict) or piece.get("index") is not None or piece.get("id"):
        return False
    if "function" in part:
        return "function" in piece and not (piece["function"] or {}).get("name")
    if {"index", "id"} & {*part, *piece}:
        return False
    kind = part.get("type")
    signed = part.get("signature") and piece.get("thinking")
    return kind == piece.get("type") and (kind == "text" or (kind == "thinking" and not signed))
