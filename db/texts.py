"""How the texts and JSON of steps are stored: compressed, and long ones only once per run.

A value becomes bytes: the number of a codec, then the encoded content; an empty value becomes no bytes at all. A long
text or a long part of JSON is a *blob*: the table `blob` has it under the digest of its content, and the digest takes
its place in the value. JSON is split from its leaves up, so that a message that repeats an observation costs only a
digest, and so do the descriptions of tools in every first request.
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
"""Digest -> the blob as it is stored, compressed."""
LONG = 512
"""A text or a part of JSON of more bytes is a blob: for a shorter one, a digest and its row would cost more."""
# The codecs: the first byte of a stored value. Databases hold these numbers, so a new codec takes the next one.
_PLAIN, _DEFLATED, _BLOB = (bytes([number]) for number in range(3))
_DIGEST = 16
# What steps of all episodes have in common. Databases depend on it, so a new dictionary needs a new codec.
_DICTIONARIES = {_DEFLATED: Path(__file__).with_name("dictionary_1.txt").read_bytes()}
# In JSON, a text that begins with NUL stands for something else: for a blob that is a text or JSON, or for a text that
# begins with NUL itself.
_TEXT, _JSON, _NUL = "\0t", "\0j", "\0\0"
_NUL_IN_JSON = rb"\u0000"
_INSIDE = re.compile(rb'"\\u0000[tj]([0-9a-f]{%d})"' % (2 * _DIGEST))
_LONG_NUMBER = re.compile(rb"[0-9]{19}")
"""Matches what may be a whole number of more than 64 bits, which orjson would round."""


@dataclass(frozen=True, slots=True)
class Folded:
    """A value as it is stored. It may be a blob or have parts that are blobs."""

    packed: bytes

    @property
    def blob(self) -> bytes | None:
        """The digest of the blob if the value as a whole is one; otherwise None."""
        return self.packed[1:] if self.packed[:1] == _BLOB else None

    def content(self, blobs: Mapping[bytes, bytes]) -> bytes:
        """Return the text in UTF-8, or the JSON with digests in place of its blobs. `blobs`: digest -> content."""
        return expanded(self.packed) if self.blob is None else blobs[self.blob]


class Packed(TypeDecorator[Any]):
    """A column of values that are stored like this: texts (`kind` str), mappings or lists.

    A value is written as it is or as `Folded`. It is read as `Folded` if any part of it is a blob, for `unfold`.
    """

    impl = LargeBinary
    cache_ok = True

    def __init__(self, kind: type = str) -> None:
        super().__init__()
        self.kind = kind

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:
        """Return the bytes of a value; one that is not yet folded is packed without blobs."""
        return value.packed if isinstance(value, Folded) else fold(value, None).packed

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> Any:
        """Unpack a value without blobs; return any other as `Folded`."""
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
    """Return a text or JSON as it is stored, and add its long parts to `blobs` (None: make no blobs)."""
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
    """Return the digests of the blobs that these values name directly; those blobs may name others."""
    return set().union(*({folded.blob} if folded.blob else named(expanded(folded.packed)) for folded in values))


def named(content: bytes) -> set[bytes]:
    """Return the digests in place of parts of this JSON. If the content is a text, they may not be of real blobs."""
    return {bytes.fromhex(digest.decode()) for digest in _INSIDE.findall(content)} if _NUL_IN_JSON in content else set()


def unfold(value: Folded, kind: type, blobs: Mapping[bytes, bytes]) -> Any:
    """Return exactly the value that was folded. `blobs`: digest -> content, of all blobs that it needs."""
    return _value(value.content(blobs), kind, blobs)


def _value(content: bytes, kind: type, blobs: Mapping[bytes, bytes]) -> Any:
    if not content:
        return kind()
    if kind is str:
        return _decoded(content)
    # Most JSON has no blob in it, and nothing that looks like one.
    return whole(_read(content), blobs) if _NUL_IN_JSON in content else _read(content)


def _read(content: bytes) -> Any:
    """Parse JSON exactly: `json` reads what orjson rejects (halves of surrogate pairs, NaN) or would round."""
    if _LONG_NUMBER.search(content):
        return json.loads(content)
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return json.loads(content)


def expanded(packed: bytes) -> bytes:
    """Decode a blob, or a value that is not a blob. Raises ValueError for a codec of a later version."""
    codec, content = packed[:1], packed[1:]
    if dictionary := _DICTIONARIES.get(codec):
        return zlib.decompressobj(wbits=-15, zdict=dictionary).decompress(content)
    if codec not in (_PLAIN, b""):
        raise ValueError(f"a stored value has the unknown codec {codec!r}: update stackrank")
    return content


def _shortened(value: Any, blobs: Blobs | None) -> Any:
    """Replace the long parts of JSON by their digests; the result is a text if the JSON as a whole is long."""
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
    """Put the blobs of JSON back in their places."""
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
    return text.encode("utf-8", "surrogatepass")  # any stored text comes back unchanged


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def _dumped(value: Any) -> bytes:
    return _encoded(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _compressed(content: bytes) -> bytes:
    if not content:
        return b""
    # Without zlib's header and checksum, which take 10 bytes with a dictionary.
    squeezer = zlib.compressobj(9, wbits=-15, zdict=_DICTIONARIES[_DEFLATED])
    deflated = squeezer.compress(content) + squeezer.flush()
    return _DEFLATED + deflated if len(deflated) < len(content) else _PLAIN + content
