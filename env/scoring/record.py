"""What a verdict was based on, so that anyone with the task can repeat it: digests, and the change as bytes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import platform
import zlib

from stackrank.env.sandbox.client import Changes
from stackrank.env.sandbox.python_env import REQUIREMENTS
from stackrank.env.task import Task
from stackrank.errors import StackrankError
from stackrank.patches.contents import EXECUTABLE, REGULAR, Executable, with_mode

MOST_CHANGE = 16 << 20
"""The most bytes of a change that is stored."""
_DIGITS = 16


class DamagedChange(StackrankError):
    """A stored change cannot be read."""


def environment_digest(task: Task, backend: str) -> str:
    """Hash of where a task's tests run: the kind of sandbox, what is installed in it, and the versions that matter."""
    parts = (backend, task.image, task.environment.digest if task.environment else "")
    host = (platform.python_version(), platform.machine(), _digest(REQUIREMENTS.read_bytes()))
    return hashlib.sha256(repr((*parts, *host)).encode()).hexdigest()[:_DIGITS]


def pack(changes: Changes) -> tuple[str, bytes] | None:
    """Return a change as (its digest, bytes to store); None if it is too large."""
    if sum(map(len, changes.files.values())) > MOST_CHANGE:
        return None
    files = {path: base64.b64encode(content).decode() for path, content in changes.files.items()}
    document = {"files": files, "deleted": sorted(changes.deleted), "skipped": sorted(changes.skipped)}
    document["executable"] = sorted(path for path, file in changes.files.items() if isinstance(file, Executable))
    content = json.dumps(document, sort_keys=True).encode()
    return _digest(content), zlib.compress(content)


def unpack(digest: str, packed: bytes) -> Changes:
    """Return the change that was packed by `pack`. Raises DamagedChange."""
    try:
        content = zlib.decompress(packed)
        if _digest(content) != digest:
            raise DamagedChange(f"the change {digest} is not what was stored under this digest")
        document = json.loads(content)
        executable = {*document["executable"]}
        files = {
            path: with_mode(base64.b64decode(text, validate=True), EXECUTABLE if path in executable else REGULAR)
            for path, text in document["files"].items()
        }
        return Changes(files, tuple(document["deleted"]), tuple(document["skipped"]))
    except (zlib.error, ValueError, binascii.Error, KeyError, TypeError) as error:
        raise DamagedChange(f"the change {digest} cannot be read: {error}") from None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
