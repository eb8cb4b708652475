"""Collects what tests answer that ask and do not assert; `env.scoring.withheld.questions` writes them."""

from __future__ import annotations

import builtins
from hashlib import sha256
from typing import Any, Callable, List

NAME = "__asked__"
MOST_SHOWN = 1000
"""The most characters of a value that are reported; a longer value is reported as a digest."""
MOST_ANSWERS = 500
"""The most answers of a test that are reported."""


class Asked:
    """Called by a test with a question (its line and kind) and the program's answer."""

    def __init__(self) -> None:
        self._answers: List[str] = []

    def __call__(self, question: str, value: Any) -> None:
        """Add a value."""
        self.add(question, _shown(value))

    def raises(self, question: str) -> "Raised":
        """Return a context that takes the place of `pytest.raises` or `assertRaises`, and reports what is raised."""
        return Raised(self, question)

    def classes(self, question: str, value: Any) -> None:
        """Add the classes of a value."""
        self.add(question, classes(value))

    def add(self, question: str, text: str) -> None:
        """Add an answer."""
        if len(self._answers) < MOST_ANSWERS:
            self._answers.append("%s %s" % (question, text))

    def take(self) -> List[str]:
        """Return the answers since the last call."""
        answers, self._answers = self._answers, []
        return answers

    def install(self) -> None:
        """Make it known to tests."""
        setattr(builtins, NAME, self)


class Raised:
    """What a block raised, with the attributes that tests read afterwards."""

    def __init__(self, asked: Asked, question: str) -> None:
        self._asked, self._question = asked, question
        self.value: Any = None

    def __enter__(self) -> "Raised":
        return self

    def __exit__(self, kind: Any, value: Any, tb: Any) -> bool:
        self.value, self.tb = value, tb
        self._asked.add(self._question, classes(value) if value is not None else "nothing")
        return value is None or isinstance(value, Exception)

    def by(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> "Raised":
        """Call a function."""
        with self:
            function(*arguments, **options)
        return self

    @property
    def exception(self) -> Any:
        """The exception, as unittest calls it."""
        return self.value

    @property
    def type(self) -> Any:
        """The class of the exception."""
        return type(self.value)

    def match(self, *pattern: Any) -> bool:
        """Say yes, as only a test that asks would hear no."""
        return True


def classes(value: Any) -> str:
    """Return the names of a value's classes, its own first."""
    return " ".join(ancestor.__name__ for ancestor in type(value).__mro__)[:MOST_SHOWN]


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception as error:
        return "%s cannot be shown: %s" % (type(value).__name__, type(error).__name__)
    if len(text) <= MOST_SHOWN:
        return text
    return "a value of %d characters: %s" % (len(text), sha256(text.encode("utf-8", "replace")).hexdigest())
