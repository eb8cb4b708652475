"""Where a person types: a terminal with history and completion, or plain lines from wherever standard input comes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from env.sandbox.python_env import stackrank_home

if TYPE_CHECKING:
    from prompt_toolkit.completion import CompleteEvent, Completion
    from prompt_toolkit.document import Document

Suggest = Callable[[Sequence[str]], Sequence[str]]
"""The words before the one that is typed -> what it could be."""


class Console(Protocol):
    """Asks for lines."""

    def ask(self, prompt: str, *, code: bool = False) -> str:
        """One line; of `code` it keeps no history. Raises EOFError when there is no more."""
        ...


class Plain:
    """Lines without any help."""

    def ask(self, prompt: str, *, code: bool = False) -> str:
        """One line, said again, since nobody's terminal has shown it."""
        line = input(prompt)
        print(line)
        return line


class Terminal:
    """prompt_toolkit."""

    def __init__(self, suggest: Suggest) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
        from prompt_toolkit.completion import Completer, Completion
        from prompt_toolkit.history import FileHistory

        class Words(Completer):
            def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
                *before, current = document.text_before_cursor.split(" ")
                for word in suggest(before):
                    if word.startswith(current):
                        yield Completion(word, start_position=-len(current))

        stackrank_home().mkdir(parents=True, exist_ok=True)
        history = FileHistory(str(stackrank_home() / "play_history"))
        self._lines: Any = PromptSession(
            history=history, auto_suggest=AutoSuggestFromHistory(), completer=Words(), complete_while_typing=False
        )
        self._code: Any = PromptSession()

    def ask(self, prompt: str, *, code: bool = False) -> str:
        """One line. Ctrl-C takes back what was typed, as in a shell."""
        while True:
            try:
                return str((self._code if code else self._lines).prompt(prompt))
            except KeyboardInterrupt:
                print("(Ctrl-D or `quit` gives up)")


def console(suggest: Suggest) -> Console:
    """What fits where standard input comes from."""
    return Terminal(suggest) if sys.stdin.isatty() and sys.stdout.isatty() else Plain()
