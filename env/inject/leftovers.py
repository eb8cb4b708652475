"""What a planted change leaves behind: names that are there and no longer used. A linter would point at the fault.

Scopes are those of Python's own compiler.
"""

from __future__ import annotations

import functools
import re
import symtable
from collections import Counter
from collections.abc import Iterator, Mapping

_KNOWN = 16
_WORD = re.compile(rb"\w+")
_LATE = re.compile(rb"from __future__ import annotations\b")


def left_behind(files: Mapping[str, bytes], broken: Mapping[str, bytes]) -> list[str]:
    """The names that nothing uses when `broken` takes the place of some of `files`, unless they were unused before.

    They are imports, variables and parameters, and what a module or a class defines where no file mentions it but
    there. Sorted. Raises SyntaxError, ValueError.
    """
    found: set[str] = set()
    for path, source in broken.items():
        found.update(_unused(source) - _unused(files[path]))
        before, words = _words(files[path]), _words(source)
        once = {name for name in _defined(source) if words[name] == 1 and before[name] != 1}
        if once:
            others = [content for other, content in {**files, **broken}.items() if other != path]
            found.update(name for name in once if not any(name.encode() in content for content in others))
    return sorted(found)


@functools.lru_cache(maxsize=_KNOWN)
def _words(source: bytes) -> Counter[str]:
    return Counter(word.decode() for word in _WORD.findall(source))


@functools.lru_cache(maxsize=_KNOWN)
def _table(source: bytes) -> symtable.SymbolTable:
    # Names in annotations are used, also where Python does not evaluate them.
    return symtable.symtable(_LATE.sub(b"pass", source).decode(), "source", "exec")


@functools.lru_cache(maxsize=_KNOWN)
def _defined(source: bytes) -> frozenset[str]:
    """What the module and its classes define."""
    scopes = (scope for scope in _scopes(_table(source)) if scope.get_type() in ("module", "class"))
    return frozenset(each.get_name() for scope in scopes for each in scope.get_symbols() if each.is_assigned())


@functools.lru_cache(maxsize=_KNOWN)
def _unused(source: bytes) -> Counter[str]:
    """Imports, variables and parameters that nothing in their scope uses, with the number of such scopes."""
    found: Counter[str] = Counter()
    module = _table(source)
    everywhere = {each.get_name() for scope in _scopes(module) for each in scope.get_symbols() if _from_module(each)}
    found.update(
        each.get_name()
        for each in module.get_symbols()
        if each.is_imported() and not each.is_referenced() and each.get_name() not in everywhere
    )
    for scope in _scopes(module):
        if scope.get_type() == "function":
            symbols = (each for child in scope.get_children() for each in child.get_symbols())
            inner = {each.get_name() for each in symbols if each.is_free()}
            for each in scope.get_symbols():
                name = each.get_name()
                # A comprehension has a parameter that is no identifier.
                if name.isidentifier() and each.is_local() and not each.is_referenced() and name not in inner:
                    found[name] += 1
    return found


def _from_module(symbol: symtable.Symbol) -> bool:
    return symbol.is_global() and symbol.is_referenced()


def _scopes(scope: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """A scope and all within."""
    yield scope
    for each in scope.get_children():
        yield from _scopes(each)
