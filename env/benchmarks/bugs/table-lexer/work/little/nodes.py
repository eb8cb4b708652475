# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The parts of a program."""
from __future__ import annotations

from typing import List, NamedTuple, Union


class Number(NamedTuple):
    value: float


class Text(NamedTuple):
    value: str


class Name(NamedTuple):
    name: str


class Binary(NamedTuple):
    sign: str
    left: "Expression"
    right: "Expression"


class Set(NamedTuple):
    name: str
    value: "Expression"


class Print(NamedTuple):
    value: "Expression"


class While(NamedTuple):
    condition: "Expression"
    body: List["Statement"]


Expression = Union[Number, Text, Name, Binary]
Statement = Union[Set, Print, While]
