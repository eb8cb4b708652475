"""Reads what a person types: in a terminal with history and completion, or as plain lines of standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from stackrank.extras import require
from stackrank.home import home, make_private
from stackrank.wording import print_out

if TYPE_CHECKING:
    from prompt_toolkit.completion import CompleteEvent, Completion
    from prompt_toolkit.document import Document

Suggest = Callable[[Sequence[str]], Sequence[str]]
"""Maps the words before the current one to its possible completions."""


class Console(Protocol):
    """Reads lines."""

    def ask(self, prompt: str, *, code: bool = False) -> str:
        """Read one line. Lines of `code` are not kept in the history. Raises EOFError at the end of input."""
        ...


class Plain:
    """Reads standard input without history or completion."""

    def ask(self, prompt: str, *, code: bool = False) -> str:
        """Read one line and print it, because no terminal has echoed it."""
        line = input(prompt)
        print_out(line)
        return line


class Terminal:
    """Reads lines with history and completion (prompt_toolkit)."""

    def __init__(self, suggest: Suggest) -> None:
        require("prompt_toolkit", extra="play", feature="`stackrank play` on a terminal")
        from prompt_toolkit import PromptSession
        from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
        from prompt_toolkit.completion import Completer, Completion
        from prompt_toolkit.history import FileHistory

        class Words(Completer):
            def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
                *previous, current = document.text_before_cursor.split(" ")
                for word in suggest(previous):
                    if word.startswith(current):
                        yield Completion(word, start_position=-len(current))

        make_private(home())
        history = FileHistory(str(home() / "play_history"))
        self._lines: Any = PromptSession(
            history=history, auto_suggest=AutoSuggestFromHistory(), completer=Words(), complete_while_typing=False
        )
        self._code: Any = PromptSession()

    def ask(self, prompt: str, *, code: bool = False) -> str:
        """Read one line. Ctrl-C discards what was typed, as in a shell."""
        while True:
            try:
                return str((self._code if code else self._lines).prompt(prompt))
            except KeyboardInterrupt:
                print_out("(press Ctrl-D or type `quit` to give up)")


def console(suggest: Suggest) -> Console:
    """Return a terminal if a person sits at one, else plain lines."""
    return Terminal(suggest) if sys.stdin.isatty() and sys.stdout.isatty() else Plain()
