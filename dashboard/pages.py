"""The pages of the dashboard that plug-ins add under the entry point group `stackrank.pages`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stackrank.errors import PluginError
from stackrank.plugins import load_plugin, plugin_names

if TYPE_CHECKING:
    from sqlalchemy import Engine

PAGES = "stackrank.pages"


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the dashboard. The name of its entry point is its path in the address."""

    title: str
    icon: str
    """The name of a Material symbol, such as `rule`."""
    description: str
    """A sentence that describes the page, for the menu."""
    file: Path
    """The Streamlit script that draws the page."""
    notice: Callable[[Engine], str] | None = None
    """Returns a sentence with which the overview links to the page; empty: nothing needs attention."""


@functools.cache
def plugin_pages() -> tuple[dict[str, Page], list[PluginError]]:
    """Return the pages of all plug-ins by their path, and the errors of those that cannot be loaded."""
    pages: dict[str, Page] = {}
    errors: list[PluginError] = []
    for name in plugin_names(PAGES):
        try:
            page = load_plugin(PAGES, name)
        except PluginError as error:
            errors.append(error)
            continue
        if isinstance(page, Page):
            pages[name] = page
        else:
            errors.append(PluginError(f"the page {name} is not a stackrank.api.Page: correct its entry point"))
    return pages, errors
