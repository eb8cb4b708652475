"""The bar on top of every page: the pages, the scope, and the field that finds things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from stackrank.dashboard import address
from stackrank.dashboard.parts import jump, scope


def bar(pages: Sequence[Any], *, wide: bool) -> None:
    """Draw the bar. `pages`: those that it lists; `wide`: see `scope.current`."""
    with st.container(key="top_bar", horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(key="top_pages", horizontal=True, vertical_alignment="center", gap=None):
            for page in pages:
                st.page_link(page, query_params=address.carried())
        with st.container(key="top_scope", width="content"):
            scope.bar(wide=wide)
        with st.container(key="jump_to", width="content", gap=None):
            jump.offer([(page.title, address.to(page.url_path or "./")) for page in pages])
