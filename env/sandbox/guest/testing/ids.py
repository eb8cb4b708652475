"""Ids of tests as pytest writes them, `PATH::CLASS::FUNCTION[PARAMETERS]`. Only this module takes them apart.

Paths and parameters are anybody's text: folders may be called `a[1]` or `a::b`, and parameters may contain `::`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple, Tuple

_PATH = re.compile(r"(.*?\.\w+)::", re.DOTALL)
"""A path ends with the first name that has a suffix. If no name has one, it ends at the first `::`."""


class ParsedId(NamedTuple):
    """The parts of an id of a test, a test function, a class or a file."""

    path: str
    names: Tuple[str, ...] = ()
    """The classes, and the function; empty for a file."""
    parameters: str = ""
    """With their brackets; empty for a test function."""

    @property
    def function(self) -> str:
        """The id without parameters."""
        return "::".join((self.path, *self.names))

    @property
    def qualified(self) -> str:
        """The function's name in its file, such as `TestShop.test_price`; a doctest has a dotted name itself."""
        return ".".join(self.names)

    @property
    def name(self) -> str:
        """The function's own name; empty for a file."""
        return self.names[-1] if self.names else ""


@lru_cache(maxsize=65536)
def parse_id(test: str) -> ParsedId:
    """Take an id apart. A text without `::` is the path of a file or folder."""
    match = _PATH.match(test)
    end = match.end(1) if match else test.find("::")
    if end < 0:
        return ParsedId(test)
    path, rest = test[:end], test[end + 2 :]
    if rest == path.rpartition("/")[2]:
        return ParsedId(path, (rest,))  # a doctest of a text, which is named after its file
    function, bracket, parameters = rest.partition("[")
    return ParsedId(path, tuple(function.split("::")), bracket + parameters)


def before_parameters(name: str) -> str:
    """Return what comes before the first bracket of a name that an agent gave, which need not be a whole id."""
    return name.partition("[")[0]


def path_of(test: str) -> str:
    """Return the path in an id of a test, or in a word of a command that names one."""
    return parse_id(test).path


def function_of(test: str) -> str:
    """Return the id of a test's function: without parameters."""
    return parse_id(test).function
