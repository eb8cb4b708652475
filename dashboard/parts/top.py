"""The bar on top of every page: the pages, the scope, and the field that finds things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from stackrank.dashboard import address
from stackrank.dashboard.parts import cards, jump, scope


def bar(pages: Sequence[Any], current: str, *, wide: bool) -> None:
    """Draw the bar. `pages`: those that it lists; `current`: the title of the one that is marked; `wide`: see `scope`.

    A narrow window has the pages in a menu instead (`app.css`).
    """
    with st.container(key="top_bar", horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(key="top_pages", horizontal=True, vertical_alignment="center", gap=None):
            _links(pages, current)
        menu = st.container(key="top_menu", width="content")
        # Each page has a menu of its own, so a choice closes it.
        with menu.popover(current, icon=":material/menu:", type="tertiary", key=f"top_menu_of_{current}"):
            _links(pages, current)
        with st.container(key="top_scope", width="content"):
            scope.bar(wide=wide)
        with st.container(key="jump_to", width="content", gap=None):
            jump.offer([(page.title, address.to(page.url_path or "./")) for page in pages])
            cards.watch()


def _links(pages: Sequence[Any], current: str) -> None:
    for page in pages:
        label = f"**{page.title}**" if page.title == current else page.title
        st.page_link(page, label=label, query_params=address.carried())
