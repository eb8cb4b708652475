"""What a `fix` had come to when it was interrupted, so that the same command goes on with it."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from stackrank.flows.runs.fix.folder import STARTED
from stackrank.flows.runs.fix.problems import Problem
from stackrank.flows.runs.fix.project import Project
from stackrank.flows.runs.fix.suite import Suite
from stackrank.home import write_whole


@dataclass
class Started:
    """Kept in the folder of proposals from when the problems are known until the command is through."""

    asked: str
    """What `asked` gives for the command."""
    suite: Suite
    problems: list[Problem]
    """Those that tests show."""
    runs: dict[str, int] = field(default_factory=dict)
    """Name -> the run that was begun under it."""
    proposed: dict[int, tuple[list[int], dict[str, str]]] = field(default_factory=dict)
    """Run -> the numbers of its proposals, and the problems without one: name -> why."""

    def keep(self, out: Path) -> None:
        """Write it down."""
        with suppress(ValueError):  # a test's name may be no text; then the command begins anew
            write_whole(out / STARTED, _FORM.dump_json(self).decode())


_FORM = TypeAdapter(Started)


def asked(project: Project, *settings: object) -> str:
    """What is the same for a command that is given again, over the same commit."""
    about = (project.repository, project.commit, project.command, project.environment, project.timeout_s, *settings)
    return hashlib.sha256(repr(about).encode("utf-8", "backslashreplace")).hexdigest()


def take_up(out: Path, asked: str) -> Started | None:
    """What the same command had come to in this folder; None where it begins anew."""
    with suppress(OSError, ValueError):
        found = _FORM.validate_json((out / STARTED).read_bytes())
        return found if found.asked == asked else None
    return None
