# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What a template consists of."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple


@dataclass(frozen=True)
class Node:
    """Anything in a template."""


@dataclass(frozen=True)
class Text(Node):
    text: str


@dataclass(frozen=True)
class Value(Node):
    """{name}"""

    name: str


@dataclass(frozen=True)
class Let(Node):
    """{let name = value}"""

    name: str
    value: str


@dataclass(frozen=True)
class Loop(Node):
    """{each item in items} ... {end}"""

    name: str
    items: str
    body: Tuple[Node, ...]


@dataclass(frozen=True)
class Macro(Node):
    """{macro name parameter ...} ... {end}"""

    name: str
    parameters: Tuple[str, ...]
    body: Tuple[Node, ...]


@dataclass(frozen=True)
class Call(Node):
    """{call name value ...}"""

    name: str
    values: Tuple[str, ...]
