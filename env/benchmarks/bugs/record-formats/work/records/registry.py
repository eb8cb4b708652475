# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Finds the reader modules and dispatches to them."""
from __future__ import annotations

import importlib
import logging
import pkgutil
from typing import Any, Callable, Dict, List

import records.readers as readers_package

log = logging.getLogger("records")

Reader = Callable[..., List[Dict[str, str]]]


class UnknownFormat(LookupError):
    """No reader handles the wanted format."""


def _discover() -> Dict[str, Reader]:
    """Import every reader module; one that cannot be imported (an optional
    dependency may be missing) is left out."""
    found: Dict[str, Reader] = {}
    for info in pkgutil.iter_modules(readers_package.__path__):
        try:
            module = importlib.import_module(readers_package.__name__ + "." + info.name)
        except Exception as error:
            log.debug("reader %s left out: %s", info.name, error)
            continue
        found[module.FORMAT] = module.read
    return found


def formats() -> List[str]:
    """Names of the formats that can be read, sorted."""
    return sorted(_discover())


def load(text: str, format: str, **options: Any) -> List[Dict[str, str]]:
    """Read all records of `text`. Raises UnknownFormat for a format without a reader."""
    try:
        reader = _discover()[format]
    except KeyError:
        raise UnknownFormat("unknown format: " + format) from None
    return reader(text, **options)
