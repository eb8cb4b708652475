"""Names that are no longer used after a planted change. A linter would report them and so point at the fault.

The scopes are those of Python's own compiler.
"""

from __future__ import annotations

import functools
import re
import symtable
from collections import Counter
from collections.abc import Iterator, Mapping

from stackrank.patches.contents import decode_text

_KNOWN = 16
_WORD = re.compile(rb"\w+")
_LATE = re.compile(rb"from __future__ import annotations\b")


def left_behind(files: Mapping[str, bytes], broken: Mapping[str, bytes]) -> list[str]:
    """Return the names that nothing uses once `broken` replaces some of `files`, unless they were unused before.

    These are imports, variables and parameters, and names that a module or a class defines but no file mentions
    elsewhere. They are sorted. Raises SyntaxError, ValueError.
    """
    names: set[str] = set()
    for path, source in broken.items():
        names.update(_unused(source) - _unused(files[path]))
        old_words, words = _words(files[path]), _words(source)
        once = {name for name in _defined(source) if words[name] == 1 and old_words[name] != 1}
        if once:
            other_files = [content for other_path, content in {**files, **broken}.items() if other_path != path]
            names.update(name for name in once if not any(name.encode() in content for content in other_files))
    return sorted(names)


@functools.lru_cache(maxsize=_KNOWN)
def _words(source: bytes) -> Counter[str]:
    return Counter(word.decode() for word in _WORD.findall(source))


@functools.lru_cache(maxsize=_KNOWN)
def _table(source: bytes) -> symtable.SymbolTable:
    # Names in annotations count as used, even if Python does not evaluate them.
    return symtable.symtable(decode_text(_LATE.sub(b"pass", source), "source.py") or "", "source", "exec")


@functools.lru_cache(maxsize=_KNOWN)
def _defined(source: bytes) -> frozenset[str]:
    """Return the names that the module and its classes define."""
    scopes = (scope for scope in _scopes(_table(source)) if scope.get_type() in ("module", "class"))
    return frozenset(symbol.get_name() for scope in scopes for symbol in scope.get_symbols() if symbol.is_assigned())


@functools.lru_cache(maxsize=_KNOWN)
def _unused(source: bytes) -> Counter[str]:
    """Return imports, variables and parameters that nothing in their scope uses, with the number of such scopes."""
    unused: Counter[str] = Counter()
    module = _table(source)
    everywhere = {
        symbol.get_name() for scope in _scopes(module) for symbol in scope.get_symbols() if _from_module(symbol)
    }
    unused.update(
        symbol.get_name()
        for symbol in module.get_symbols()
        if symbol.is_imported() and not symbol.is_referenced() and symbol.get_name() not in everywhere
    )
    for scope in _scopes(module):
        if scope.get_type() == "function":
            symbols = (symbol for child in scope.get_children() for symbol in child.get_symbols())
            inner = {symbol.get_name() for symbol in symbols if symbol.is_free()}
            for symbol in scope.get_symbols():
                name = symbol.get_name()
                # A comprehension has a parameter that is no identifier.
                if name.isidentifier() and symbol.is_local() and not symbol.is_referenced() and name not in inner:
                    unused[name] += 1
    return unused


def _from_module(symbol: symtable.Symbol) -> bool:
    return symbol.is_global() and symbol.is_referenced()


def _scopes(scope: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """Yield a scope and all scopes inside it."""
    yield scope
    for child in scope.get_children():
        yield from _scopes(child)
