"""The entry point of the dashboard: `stackrank dashboard`, which serves it by `asgi.py`."""

from pathlib import Path
from typing import Any

import streamlit as st

from stackrank.dashboard import address, first_run, login
from stackrank.dashboard.data import ask
from stackrank.dashboard.pages import HIDDEN, LISTED, SUMMARIES, Page, plugin_pages, title_of
from stackrank.dashboard.parts import pulse, scope, show, top
from stackrank.dashboard.parts.show import begin, escaped, guarded
from stackrank.db import queries

# Comments, because Streamlit draws every text that stands alone in this file.
# Pages that show every benchmark unless the scope names one.
_LISTS = ("runs", "episodes")
# Pages that are drawn again when the runs that they are about have gone on. Run and episode follow their own.
_FOLLOWING = ("", "leaderboard", "compare", "tool_sets", "failures", "tasks", "task", "runs", "episodes")


def _page(name: str, icon: str, **options: Any) -> Any:
    return st.Page(f"app_pages/{name}.py", title=title_of(name), icon=f":material/{icon}:", url_path=name, **options)


def _plugin_page(path: str, page: Page) -> Any:
    return st.Page(page.file, title=page.title, icon=f":material/{page.icon}:", url_path=path, help=page.description)


# Set our own icon before the pages set theirs, because Streamlit fetches those from the internet.
st.set_page_config(page_icon=str(Path(__file__).parent / "icon.png"), layout="wide")

login.require()
plugins, errors = plugin_pages()
listed = [_page(name, icon, help=summary, default=name == "overview") for name, (icon, summary) in LISTED.items()]
listed += [_plugin_page(path, page) for path, page in plugins.items()]
pages = [*listed, *(_page(name, icon, visibility="hidden") for name, (icon, _) in HIDDEN.items())]
page = st.navigation(pages, position="hidden")
show.titled(page.title)
st.html(Path(__file__).with_name("app.css"))
# Streamlit says so of the page, but not of what opens above it, such as a menu.
st.html(f"<style>:root {{ color-scheme: {'dark' if st.context.theme.type == 'dark' else 'light'} }}</style>")
address.begin()
begin()
scope.begin()
wide = page.url_path in _LISTS
above = HIDDEN.get(page.url_path, ("", page.url_path))[1]
top.bar(listed, next(each.title for each in listed if each.url_path == above), wide=wide)
hints = st.container()
for error in errors:
    hints.warning(escaped(str(error)), icon=":material/extension_off:")
# A search of texts may take seconds, and is not repeated by itself.
follows = page.url_path in _FOLLOWING and "ep_query" not in st.query_params
if follows:
    pulse.begin(wide=wide)
    pulse.follow(wide=wide)
try:
    with guarded(page=True):
        if page.url_path in plugins or ask(queries.runs, limit=1):
            page.run()
        else:
            first_run.draw(page.title, SUMMARIES[page.url_path or "overview"])
    login.footer()
finally:
    for name, value in address.ignored().items():
        text = f"The link asks for {name} = {value[:80]}, which does not exist, so it was ignored."
        hints.warning(escaped(text), icon=":material/link_off:")
