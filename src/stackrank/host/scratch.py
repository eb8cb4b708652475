"""Temporary folders that tell whose they are, so that those of killed processes can be found and removed."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stackrank.home import is_dead, process_mark

_NAME = re.compile(r"stackrank-(?P<namespace>\d+|-)-(?P<pid>\d+)-(?P<birth>[\d.]+)-\w+")
"""The namespace of a process id, the process id, and when the process started; see `process_mark`."""


def make_scratch() -> Path:
    """Create a temporary folder of this process. The caller removes it."""
    return Path(tempfile.mkdtemp(prefix=f"stackrank-{'-'.join(process_mark().split(':')[2:])}-"))


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a temporary folder, and remove it afterwards."""
    folder = make_scratch()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned() -> list[str]:
    """Remove this user's temporary folders of processes that have ended, and return their paths."""
    host, boot, namespace, *_ = process_mark().split(":")
    removed = []
    for folder in Path(tempfile.gettempdir()).glob("stackrank-*"):
        name = _NAME.fullmatch(folder.name)
        if name is None or name["namespace"] != namespace or folder.is_symlink():
            continue
        if is_dead(":".join((host, boot, namespace, name["pid"], name["birth"]))):
            with suppress(OSError):  # another user's
                shutil.rmtree(folder)
                removed.append(str(folder))
    return removed
