# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Slugs in use."""
from __future__ import annotations

from .slug import slugify


class SlugRegistry:
    """Gives each article a slug of its own."""

    def __init__(self, reserved: tuple[str, ...] = ()) -> None:
        self._owners: dict[str, str | None] = {slug: None for slug in reserved}

    def assign(self, article: str, title: str) -> str:
        """The slug for an article: that of its title, numbered from 2 if others have it.

        Asking again for the same article and title gives the same slug.
        """
        base = slugify(title)
        number = 1
        slug = base
        while slug in self._owners and self._owners[slug] != article:
            number += 1
            slug = f"{base}-{number}"
        self._owners[slug] = article
        return slug

    def article(self, slug: str) -> str | None:
        """The article that has the slug."""
        return self._owners.get(slug)
