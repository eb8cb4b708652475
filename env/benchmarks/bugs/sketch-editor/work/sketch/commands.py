# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What can be done to a drawing, and undone."""
from __future__ import annotations

from typing import Optional

from .shapes import Drawing, Shape


class Command:
    """One step of the user."""

    def do(self, drawing: Drawing) -> None:
        raise NotImplementedError

    def undo(self, drawing: Drawing) -> None:
        raise NotImplementedError

    def joined(self, later: "Command") -> "Optional[Command]":
        """One command for this and the later one, or None if they SHALL stay apart."""
        return None


class Add(Command):
    """Put a new shape into the drawing."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    def do(self, drawing: Drawing) -> None:
        drawing.put(self.shape)

    def undo(self, drawing: Drawing) -> None:
        drawing.take(self.shape.name)


class Paint(Command):
    """Change the colour of a shape."""

    def __init__(self, name: str, colour: str) -> None:
        self.name = name
        self.colour = colour
        self._before: Optional[Shape] = None

    def do(self, drawing: Drawing) -> None:
        self._before = drawing.change(self.name, colour=self.colour)

    def undo(self, drawing: Drawing) -> None:
        assert self._before is not None
        drawing.change(self.name, colour=self._before.colour)


class Move(Command):
    """Shift a shape. Shifts of the same shape one right after the other are joined into one step."""

    def __init__(self, name: str, dx: int, dy: int) -> None:
        self.name, self.dx, self.dy = name, dx, dy

    def _shift(self, drawing: Drawing, sign: int) -> None:
        shape = drawing.shapes[self.name]
        drawing.change(self.name, x=shape.x + sign * self.dx, y=shape.y + sign * self.dy)

    def do(self, drawing: Drawing) -> None:
        self._shift(drawing, 1)

    def undo(self, drawing: Drawing) -> None:
        self._shift(drawing, -1)

    def joined(self, later: Command) -> Optional[Command]:
        if isinstance(later, Move) and later.name == self.name:
            return Move(self.name, self.dx + later.dx, self.dy + later.dy)
        return None
