"""Texts and JSON as steps hold them: compressed, and long ones once in a run.

A value becomes bytes: the number of a codec, and what that made of it; none at all for an empty value. A long text or
a long part of JSON is a *blob*: it stands in the table `blob` under the digest of its content, and its digest in its
place. JSON is taken apart from its leaves up, so that a message that repeats an observation costs a digest, and so do
the tools that every first question describes.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import LargeBinary, TypeDecorator
from sqlalchemy.engine import Dialect

Blobs = dict[bytes, bytes]
"""Digest -> a blob as it is stored: compressed."""
LONG = 512
"""Bytes of a text or a part of JSON that is not yet a blob. Below, a digest and its row would cost more."""
# What a stored value begins with. Databases hold these numbers: a new codec takes the next one.
_PLAIN, _DEFLATED_1, _BLOB, _DEFLATED = (bytes([number]) for number in range(4))
_DIGEST = 16
# What steps of all episodes have in common, by codec. Databases depend on it: another dictionary is another codec.
_DICTIONARIES = {
    codec: Path(__file__).with_name(f"dictionary_{number}.txt").read_bytes()
    for number, codec in enumerate((_DEFLATED_1, _DEFLATED), 1)
}
# In JSON, a text that begins with NUL stands for something else: for a blob that is a text or JSON, or for a text that
# begins with NUL itself.
_TEXT, _JSON, _NUL = "\0t", "\0j", "\0\0"
_NUL_IN_JSON = rb"\u0000"
_INSIDE = re.compile(rb'"\\u0000[tj]([0-9a-f]{%d})"' % (2 * _DIGEST))
_LONG_NUMBER = re.compile(rb"[0-9]{19}")
"""What may be a whole number of more than 64 bits, which the quick reader would round."""


@dataclass(frozen=True, slots=True)
class Folded:
    """A value as it is stored, of which parts may be blobs."""

    packed: bytes

    @property
    def blob(self) -> bytes | None:
        """The digest of the blob that the value as a whole is."""
        return self.packed[1:] if self.packed[:1] == _BLOB else None

    def content(self, blobs: Mapping[bytes, bytes]) -> bytes:
        """UTF-8, or JSON in which blobs stand for parts. `blobs`: digest -> content."""
        return expanded(self.packed) if self.blob is None else blobs[self.blob]


class Packed(TypeDecorator[Any]):
    """A column of such values: texts (`kind` str), mappings or lists.

    Bound as it is or `Folded`; read as `Folded` where a part of it is a blob, for `unfold`.
    """

    impl = LargeBinary
    cache_ok = True

    def __init__(self, kind: type = str) -> None:
        super().__init__()
        self.kind = kind

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:
        """Pack a value that was not folded, without blobs."""
        return value.packed if isinstance(value, Folded) else fold(value, None).packed

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> Any:
        """Unpack what is complete."""
        if not value:
            return self.kind()
        packed = bytes(value)
        if packed[:1] == _BLOB:
            return Folded(packed)
        content = expanded(packed)
        if self.kind is not str and _NUL_IN_JSON in content and named(content):
            return Folded(packed)
        return _value(content, self.kind, {})


def fold(value: Any, blobs: Blobs | None) -> Folded:
    """The text or JSON as it is stored; its long parts are added to `blobs` (None: it is to have none)."""
    if isinstance(value, str):
        content = _encoded(value)
        if blobs is not None and len(content) > LONG:
            return Folded(_BLOB + _put(content, blobs))
        return Folded(_compressed(content))
    if not value:
        return Folded(b"")
    short = _shortened(value, blobs)
    return Folded(_BLOB + bytes.fromhex(short[2:]) if isinstance(short, str) else _compressed(_dumped(short)))


def needs(values: Iterable[Folded]) -> set[bytes]:
    """The digests of the blobs that these values name themselves; those blobs may name others."""
    return set().union(*({each.blob} if each.blob else named(expanded(each.packed)) for each in values))


def named(content: bytes) -> set[bytes]:
    """The digests of the blobs that stand for parts of this JSON; perhaps some that there are not, if it is a text."""
    return {bytes.fromhex(each.decode()) for each in _INSIDE.findall(content)} if _NUL_IN_JSON in content else set()


def unfold(value: Folded, kind: type, blobs: Mapping[bytes, bytes]) -> Any:
    """The value that was folded, exactly. `blobs`: digest -> content of all that it needs."""
    return _value(value.content(blobs), kind, blobs)


def _value(content: bytes, kind: type, blobs: Mapping[bytes, bytes]) -> Any:
    if not content:
        return kind()
    if kind is str:
        return _decoded(content)
    # Most JSON has no blob in it, and nothing that looks like one.
    return whole(_read(content), blobs) if _NUL_IN_JSON in content else _read(content)


def _read(content: bytes) -> Any:
    """The JSON, exactly: what the quick reader does not take (halves of characters, NaN) the other one does."""
    if _LONG_NUMBER.search(content):
        return json.loads(content)
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return json.loads(content)


def expanded(packed: bytes) -> bytes:
    """The content of a blob, or of a value that is none. Raises ValueError for a codec of a later version."""
    codec, content = packed[:1], packed[1:]
    if dictionary := _DICTIONARIES.get(codec):
        return zlib.decompressobj(wbits=-15, zdict=dictionary).decompress(content)
    if codec not in (_PLAIN, b""):
        raise ValueError(f"a stored value begins with {codec!r}, which is no codec of this version: update stackrank")
    return content


def _shortened(value: Any, blobs: Blobs | None) -> Any:
    """JSON with its long parts replaced; a text where all of it was one."""
    if isinstance(value, str):
        if blobs is not None and len(value) > LONG // 4 and len(content := _encoded(value)) > LONG:
            return _TEXT + _put(content, blobs).hex()
        return f"\0{value}" if value.startswith("\0") else value
    if isinstance(value, dict):
        value = {name: _shortened(part, blobs) for name, part in value.items()}
    elif isinstance(value, list | tuple):
        value = [_shortened(part, blobs) for part in value]
    else:
        return value
    if blobs is not None and len(content := _dumped(value)) > LONG:
        return _JSON + _put(content, blobs).hex()
    return value


def whole(value: Any, blobs: Mapping[bytes, bytes]) -> Any:
    """JSON with its parts back in their places."""
    if isinstance(value, dict):
        return {name: whole(part, blobs) for name, part in value.items()}
    if isinstance(value, list):
        return [whole(part, blobs) for part in value]
    if not isinstance(value, str) or not value.startswith("\0"):
        return value
    if value.startswith(_NUL):
        return value[1:]
    content = blobs[bytes.fromhex(value[2:])]
    return _value(content, str if value.startswith(_TEXT) else dict, blobs)


def _put(content: bytes, blobs: Blobs) -> bytes:
    digest = blake2b(content, digest_size=_DIGEST).digest()
    if digest not in blobs:
        blobs[digest] = _compressed(content)
    return digest


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # whatever a database holds comes back as it was


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def _dumped(value: Any) -> bytes:
    return _encoded(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _compressed(content: bytes) -> bytes:
    if not content:
        return b""
    # Without zlib's header and checksum, which are 10 bytes with a dictionary.
    squeezer = zlib.compressobj(9, wbits=-15, zdict=_DICTIONARIES[_DEFLATED])
    deflated = squeezer.compress(content) + squeezer.flush()
    return _DEFLATED + deflated if len(deflated) < len(content) else _PLAIN + content
