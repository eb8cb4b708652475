"""The programs that the guest starts. Little is imported here: each start of a verdict's run waits for it."""

from __future__ import annotations

from typing import List


def child(argv: List[str]) -> int:
    """Be one of the programs that the guest starts: `argv` is [name, *arguments]."""
    if argv[0] == "warm":
        from .warm import main as wait_for_requests

        argv = wait_for_requests(argv[1:])
    if argv[0] == "pdb":
        from .pdb_child import main as run_child
    else:
        from .pytest_child import main as run_child
    return run_child(argv[1:])
