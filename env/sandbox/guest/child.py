"""The programs that the guest starts. This module imports little, because each test run for a verdict waits for it."""

from __future__ import annotations

from typing import List


def child(argv: List[str]) -> int:
    """Run one of the programs that the guest starts. `argv` is [name, *arguments]."""
    if argv[0] == "warm":
        from .warm import main as wait_for_requests

        argv = wait_for_requests(argv[1:])
    elif argv[0] == "template":
        from .factory import template

        argv = template(argv[1:])
    if argv[0] == "laboratory":
        from .laboratory import main as run_child
    elif argv[0] == "pdb":
        from .programs import main as run_child
    else:
        from .pytest_child import main as run_child
    return run_child(argv[1:])
