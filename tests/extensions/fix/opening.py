"""A repository as `stackrank fix` opens it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stackrank.extensions.fix.finding.project import Project, TestOptions, open_project, require_separate
from tests.support.shop import repository


def opened(folder: Path, files: Mapping[str, str], **wishes: Any) -> Project:
    """A repository with these files, as `stackrank fix` opens it."""
    project = open_project(repository(folder, files), TestOptions(**wishes))
    require_separate(project, folder.parent / "out")
    return project


def quiet(line: str) -> None:
    """Say nothing of the progress."""
