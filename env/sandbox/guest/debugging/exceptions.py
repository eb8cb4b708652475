"""An exception and what led to it."""

from __future__ import annotations

import sys
from typing import List

_MOST = 6


def reported_error(error: BaseException) -> BaseException:
    """Return the program's exception that pytest reports, without what pytest wraps it in while it collects tests."""
    while error.__cause__ is not None and type(error).__name__ == "CollectError":
        error = error.__cause__
    return error


def exit_status(error: SystemExit) -> int:
    """Return the status with which a program ends itself. Prints its message, as Python does."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        # Without any method that the program's own class may have. Python makes -1 of what does not fit into a long.
        return int.__and__(error.code, 0xFF) if int.bit_length(error.code) < 64 else 0xFF
    print(error.code, file=sys.stderr)
    return 1


def chain_of(error: BaseException) -> List[BaseException]:
    """Return an exception, what caused it (or was being handled when it was raised), and the members of groups."""
    chain: List[BaseException] = []
    pending: List[BaseException] = [error]
    while pending and len(chain) < _MOST:
        current = pending.pop(0)
        if any(current is earlier for earlier in chain):
            continue
        chain.append(current)
        cause = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
        pending += [cause] if cause is not None else []
        members = getattr(current, "exceptions", ())
        if isinstance(members, tuple):
            pending += [member for member in members if isinstance(member, BaseException)]
    return chain
