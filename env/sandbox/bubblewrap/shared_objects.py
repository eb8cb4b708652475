"""The shared objects that programs are linked with, read from their ELF headers; nothing is executed.

Format: elf(5). Search order: ld.so(8), without variables and without the default of other architectures.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stackrank.host import programs

_LOAD, _DYNAMIC, _INTERPRETER = 1, 2, 3
_NEEDED, _STRINGS, _RPATH, _RUNPATH = 1, 5, 15, 29
_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")


class _Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    size: int


def linked_files(file: Path) -> list[Path]:
    """Return the interpreter and the shared objects that a program or a shared object needs directly.

    Empty if it is no ELF file of this machine's word size. Objects that are missing are left out.
    """
    try:
        data = file.read_bytes()
        return list(_read(data, file.resolve().parent))
    except (OSError, struct.error, ValueError):
        return []


def _read(data: bytes, origin: Path) -> Iterator[Path]:
    if data[:6] != b"\x7fELF\x02\x01":  # 64 bits, little-endian
        return
    start, size, count = struct.unpack_from("<Q14xHH", data, 32)
    segments = []
    for number in range(count):
        kind, offset, address, length = struct.unpack_from("<I4xQQ8xQ", data, start + number * size)
        segments.append(_Segment(kind, offset, address, length))
    for segment in segments:
        if segment.kind == _INTERPRETER:
            yield Path(data[segment.offset : segment.offset + segment.size].rstrip(b"\0").decode())
    entries = [
        struct.unpack_from("<qQ", data, at)
        for segment in segments
        if segment.kind == _DYNAMIC
        for at in range(segment.offset, segment.offset + segment.size - 15, 16)
    ]
    strings = next((value for tag, value in entries if tag == _STRINGS), None)
    table = next(
        (
            segment.offset + strings - segment.address
            for segment in segments
            if strings is not None and segment.kind == _LOAD and 0 <= strings - segment.address < segment.size
        ),
        None,
    )
    if table is None:
        return

    def texts(*tags: int) -> list[str]:
        return [data[table + at : data.index(b"\0", table + at)].decode() for tag, at in entries if tag in tags]

    folders = [
        Path(folder.replace("$ORIGIN", str(origin)).replace("${ORIGIN}", str(origin)))
        for text in texts(_RPATH, _RUNPATH)
        for folder in text.split(":")
    ]
    for name in texts(_NEEDED):
        if found := _find(name, folders):
            yield found


def _find(name: str, folders: list[Path]) -> Path | None:
    places = [*(folder / name for folder in folders), *_cache().get(name, ()), *(Path(at, name) for at in _FOLDERS)]
    return next((place for place in places if place.is_file()), None)


@functools.cache
def _cache() -> dict[str, list[Path]]:
    """Return the linker's cache: the name of a shared object -> its files of this machine's word size."""
    program = programs.find_program("ldconfig", path="/sbin:/usr/sbin:/bin:/usr/bin")
    if program is None:
        return {}
    output = programs.run([program, "-p"]).text
    files: dict[str, list[Path]] = {}
    for name, kind, file in re.findall(r"^\s+(\S+) \(([^)]*)\) => (\S+)$", output, re.M):
        if "64" in kind:
            files.setdefault(name, []).append(Path(file))
    return files
