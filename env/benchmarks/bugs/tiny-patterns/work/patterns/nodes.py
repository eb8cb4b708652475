# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The nodes of a parsed pattern."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple, Union


@dataclass(frozen=True)
class Letter:
    """One letter, or any for None."""

    letter: Optional[str]


@dataclass(frozen=True)
class Sequence:
    parts: Tuple["Node", ...]


@dataclass(frozen=True)
class Choice:
    options: Tuple["Node", ...]


@dataclass(frozen=True)
class Repeat:
    """The inner pattern at least `least` times; any number of times, or once at the most."""

    inner: "Node"
    least: int
    many: bool


Node = Union[Letter, Sequence, Choice, Repeat]
