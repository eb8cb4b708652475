# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What to undo."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

Key = Tuple[str, int]
MISSING: Any = object()


class Layer:
    """What records were like before they were first changed in one stretch of a transaction."""

    def __init__(self, name: Optional[str]) -> None:
        self.name = name
        self.before: Dict[Key, Any] = {}

    def note(self, key: Key, value: Any) -> None:
        """Note the value a record has before it is changed; only the first one of the stretch counts."""
        self.before.setdefault(key, value)


class Journal:
    """Layers, the lowest for the transaction itself and one for each savepoint."""

    def __init__(self) -> None:
        self._layers: List[Layer] = [Layer(None)]

    def note(self, key: Key, value: Any) -> None:
        self._layers[-1].note(key, value)

    def savepoint(self, name: str) -> None:
        self._layers.append(Layer(name))

    def _find(self, name: str) -> int:
        for index in range(len(self._layers) - 1, 0, -1):
            if self._layers[index].name == name:
                return index
        raise LookupError("no savepoint " + name)

    def release(self, name: str) -> None:
        """Forget a savepoint and those after it; the changes belong to what was before it."""
        index = self._find(name)
        kept = self._layers[index - 1]
        for layer in self._layers[index:]:
            kept.before.update(layer.before)
        del self._layers[index:]

    def undo_to(self, name: Optional[str]) -> Dict[Key, Any]:
        """What records must become to be as at the savepoint (None: at the begin), which stays set."""
        index = 0 if name is None else self._find(name)
        undo: Dict[Key, Any] = {}
        for layer in reversed(self._layers[index:]):
            undo.update(layer.before)
        del self._layers[index + 1:]
        self._layers[index] = Layer(name)
        return undo
