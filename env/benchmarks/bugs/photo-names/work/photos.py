# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Names of photos: their order and new free names."""
from __future__ import annotations

from typing import Iterable, List, Set, Tuple, Union

from chunks import chunks

Key = Tuple[Tuple[int, Union[int, str]], ...]


def natural_key(name: str) -> Key:
    """A key to sort names as people do: digits by their value, the rest without regard to case.

    Digits come before letters; "img 2" is before "img 10".
    """
    return tuple(
        (0, int(text)) if number else (1, text.casefold()) for number, text in chunks(name)
    )


def in_order(names: Iterable[str]) -> List[str]:
    """The names in natural order; names that are equal but for case or leading zeros in plain order."""
    return sorted(names, key=lambda name: (natural_key(name), name))


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name itself, or with its last number raised until nobody has it; zeros in front stay.

    A name without any number gets " 2", " 3" and so on.
    """
    used: Set[str] = set(taken)
    while name in used:
        name = raised(name)
    return name


def raised(name: str) -> str:
    """The name with its last number raised by one."""
    parts = list(chunks(name))
    for index in range(len(parts) - 1, -1, -1):
        number, text = parts[index]
        if number:
            parts[index] = (True, str(int(text) + 1).zfill(len(text)))
            return "".join(text for _, text in parts)
    return f"{name} 2"
