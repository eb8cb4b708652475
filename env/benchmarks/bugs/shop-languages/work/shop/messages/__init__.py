# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The messages: a module for each language, by its code."""
from __future__ import annotations

from typing import Dict

from . import de, en, es, fr, it

CATALOGUES: Dict[str, Dict[str, str]] = {
    "de": de.MESSAGES,
    "en": en.MESSAGES,
    "es": es.MESSAGES,
    "fr": fr.MESSAGES,
    "it": it.MESSAGES,
}
