# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The editor."""
from __future__ import annotations

from typing import Dict, Tuple

from .commands import Add, Command, Move, Paint
from .history import History
from .shapes import Drawing, Shape


class Editor:
    """A drawing with its history and its file."""

    def __init__(self, title: str = "untitled", limit: int = 100) -> None:
        self.title = title
        self.drawing = Drawing()
        self.files: Dict[str, Tuple[Shape, ...]] = {}
        self._history = History(limit)

    def _run(self, command: Command) -> None:
        command.do(self.drawing)
        self._history.add(command)

    def add(self, name: str, x: int = 0, y: int = 0) -> None:
        self._run(Add(Shape(name, x, y)))

    def move(self, name: str, dx: int, dy: int) -> None:
        self._run(Move(name, dx, dy))

    def paint(self, name: str, colour: str) -> None:
        self._run(Paint(name, colour))

    def undo(self) -> bool:
        """Undo a step; False if there is none."""
        command = self._history.step_back()
        if command is not None:
            command.undo(self.drawing)
        return command is not None

    def redo(self) -> bool:
        """Redo a step; False if there is none."""
        command = self._history.step_forward()
        if command is not None:
            command.do(self.drawing)
        return command is not None

    def save(self) -> None:
        self.files[self.title] = tuple(self.drawing.shapes.values())
        self._history.mark_saved()

    def title_bar(self) -> str:
        """The title, with a star if there are changes that are not saved."""
        return self.title + (" *" if self._history.changed else "")

    def may_close(self) -> bool:
        """Whether the editor may be closed without a question."""
        return not self._history.changed
