# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The shop page."""
from __future__ import annotations

from typing import List

from i18n.translator import Translator


def page(language: str, name: str, articles: int) -> List[str]:
    """The lines of the page for a customer."""
    t = Translator(language)
    return [t.text("hello", name=name), t.text("cart") + ": " + t.text("articles", n=articles), t.text("bye")]
