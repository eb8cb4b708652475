"""Compiled forms of modules that a task brought and nobody has changed, so that not every run compiles them again.

Compiling a library takes longer than most of its tests. Python reads such a file only if it was made from exactly the
source beside it: each holds a hash of its source, which is compared at every import (PEP 552, checked hash-based pycs),
and a Python of another version looks for another name.
"""

from __future__ import annotations

import functools
import importlib.util
import marshal
import sys
import warnings
from collections.abc import Mapping
from pathlib import PurePosixPath

from stackrank.env.benchmarks.testfiles import is_test
from stackrank.patches.contents import Link

MOST_BYTES = 8 << 20
"""Of a program with more source than this, a test run imports only a small part."""
_CHECKED_HASH = 0b11
_KEPT = 4096


def compiled(files: Mapping[str, bytes], unchanged: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the compiled forms of those modules of `files` that are the same in `unchanged`, by their paths.

    Tests are left out, because pytest compiles them in its own way.
    """
    modules = {
        path: content
        for path, content in files.items()
        if path.endswith(".py") and not is_test(path) and unchanged.get(path) == content and type(content) is not Link
    }
    if sum(map(len, modules.values())) > MOST_BYTES:
        return {}
    forms = {_place(path): _compile(bytes(content)) for path, content in modules.items()}
    return {path: form for path, form in forms.items() if form is not None}


def _place(path: str) -> str:
    source = PurePosixPath(path)
    return str(source.parent / "__pycache__" / f"{source.stem}.{sys.implementation.cache_tag}.pyc")


@functools.lru_cache(maxsize=_KEPT)
def _compile(source: bytes) -> bytes | None:
    """Return the content of the compiled file; None if compiling fails or warns, which a test run may have to see."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            code = compile(source, "<module>", "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError, Warning, RecursionError, MemoryError, OverflowError):
        return None
    head = importlib.util.MAGIC_NUMBER + _CHECKED_HASH.to_bytes(4, "little") + importlib.util.source_hash(source)
    return head + marshal.dumps(code)
