# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The shop: products and the pages that show them."""
from __future__ import annotations

from typing import Dict, List

from pages.cache import TagCache


class Shop:
    """Renders pages of products; `rendered` counts how often."""

    def __init__(self, cached_pages: int = 10) -> None:
        self.prices: Dict[str, int] = {}
        self.layout: Dict[str, List[str]] = {}
        self.rendered = 0
        self._cache: TagCache[str] = TagCache(cached_pages)

    def set_price(self, product: str, price: int) -> None:
        """Set a price. Pages that show the product are rendered again when wanted."""
        self.prices[product] = price
        self._cache.drop_tag(product)

    def arrange(self, page: str, products: List[str]) -> None:
        """Decide what a page shows. The page is rendered at once."""
        self.layout[page] = list(products)
        self._store(page)

    def page(self, name: str) -> str:
        """The text of a page."""
        text = self._cache.get(name)
        return self._store(name) if text is None else text

    def _store(self, name: str) -> str:
        products = self.layout[name]
        rows = ["%s: %s" % (p, self.prices.get(p, "sold out")) for p in products]
        text = "\n".join([name.upper()] + rows)
        self.rendered += 1
        self._cache.put(name, text, tags=products)
        return text
