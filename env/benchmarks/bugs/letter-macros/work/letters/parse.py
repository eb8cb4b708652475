# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reading templates."""
from __future__ import annotations

import re
from typing import List, Tuple

from .errors import TemplateError
from .nodes import Call, Let, Loop, Macro, Node, Text, Value

_TAG = re.compile(r"\{([^{}]*)\}")


def parse(source: str) -> Tuple[Node, ...]:
    """The nodes of a template."""
    pieces = _TAG.split(source)
    nodes, position = _block(pieces, 0, inner=False)
    return nodes


def _block(pieces: List[str], position: int, inner: bool) -> Tuple[Tuple[Node, ...], int]:
    nodes: List[Node] = []
    while position < len(pieces):
        piece = pieces[position]
        position += 1
        if position % 2:
            if piece:
                nodes.append(Text(piece))
            continue
        words = piece.split()
        if words == ["end"]:
            if not inner:
                raise TemplateError("end without a beginning")
            return tuple(nodes), position
        if len(words) == 4 and words[0] == "each" and words[2] == "in":
            body, position = _block(pieces, position, inner=True)
            nodes.append(Loop(words[1], words[3], body))
        elif len(words) >= 2 and words[0] == "macro":
            body, position = _block(pieces, position, inner=True)
            nodes.append(Macro(words[1], tuple(words[2:]), body))
        elif len(words) >= 2 and words[0] == "call":
            nodes.append(Call(words[1], tuple(words[2:])))
        elif len(words) == 4 and words[0] == "let" and words[2] == "=":
            nodes.append(Let(words[1], words[3]))
        elif len(words) == 1:
            nodes.append(Value(words[0]))
        else:
            raise TemplateError(f"cannot read {{{piece}}}")
    if inner:
        raise TemplateError("end is missing")
    return tuple(nodes), position
