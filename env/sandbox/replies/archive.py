"""The archive of changes: regular files below the workspace, and nothing else."""

from __future__ import annotations

import io
import tarfile

from stackrank.env.sandbox.base import BadReply
from stackrank.env.sandbox.replies.decoder import plain_path
from stackrank.patches.contents import EXECUTABLE, REGULAR, with_mode
from stackrank.storable import storable_text

_FILES_LIMIT = 100_000


def read_archive(data: bytes) -> tuple[dict[str, bytes], list[str]]:
    """Return the files of an archive of changes: path -> content, and the paths that are no text. Raises BadReply.

    A file that its owner may execute is an `Executable`.
    """
    files: dict[str, bytes] = {}
    nameless: list[str] = []
    size = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for number, member in enumerate(tar):
                # A sparse file claims to be larger than the data in the archive; after a negative size, the same
                # member would be read again.
                size += member.size
                is_whole = member.isreg() and not member.issparse() and 0 <= member.size <= size <= len(data)
                if not is_whole or number >= _FILES_LIMIT:
                    raise BadReply(
                        f"{member.name[:200]!r} in the archive of changes is not a regular file of its stated size"
                    )
                source = tar.extractfile(member)
                assert source is not None
                name = plain_path(storable_text(member.name))
                if name == member.name:
                    files[name] = with_mode(source.read(), EXECUTABLE if member.mode & 0o100 else REGULAR)
                else:  # names of files are bytes, and need not be UTF-8
                    nameless.append(name)
    except (tarfile.TarError, OSError, EOFError, RecursionError, OverflowError, ValueError) as error:
        raise BadReply(f"the archive of changes cannot be read: {error}") from None
    return files, nameless
