"""The entry point of the dashboard: `stackrank dashboard`, or `streamlit run dashboard/app.py`."""

from pathlib import Path
from typing import Any

import streamlit as st

from stackrank.dashboard import address, login
from stackrank.dashboard.pages import Page, plugin_pages
from stackrank.dashboard.parts import jump, show
from stackrank.dashboard.parts.show import begin, escaped, guarded
from stackrank.wording import words

_LISTED = (
    ("overview", "home", "The latest run, what got better or worse since the one before, and the runs in progress."),
    (
        "leaderboard",
        "leaderboard",
        "Which entrant resolves more, with 95% intervals, costs and failure points. Select two to compare them.",
    ),
    (
        "compare",
        "compare_arrows",
        "Two to four entrants, paired by task: how far ahead one is, on which tasks, and whether that could be chance.",
    ),
    (
        "tool_sets",
        "build",
        "What a tool is worth: the same agent and model with and without it, and how each tool is used.",
    ),
    ("failures", "troubleshoot", "How far episodes get, and where they first go wrong."),
    ("tasks", "task", "Every task: how hard it is, who resolves it, which ones may be defective."),
    ("runs", "play_circle", "Every run, newest first: its progress, its verdicts, its cost."),
    ("episodes", "list_alt", "Find episodes by entrant, task, verdict, failure point or tool, and open their traces."),
)
_HIDDEN = (
    ("task", "task"),
    ("run", "play_circle"),
    ("episode", "bug_report"),
    ("diverge", "fork_right"),
    ("against", "compare_arrows"),
)


def _page(name: str, icon: str, **options: Any) -> Any:
    title = "Failure points" if name == "failures" else words(name).capitalize()
    return st.Page(f"app_pages/{name}.py", title=title, icon=f":material/{icon}:", url_path=name, **options)


def _plugin_page(path: str, page: Page) -> Any:
    return st.Page(page.file, title=page.title, icon=f":material/{page.icon}:", url_path=path, help=page.description)


# Set our own icon before the pages set theirs, because Streamlit fetches those from the internet.
st.set_page_config(page_icon=str(Path(__file__).parent / "icon.png"), layout="wide")

login.require()
plugins, errors = plugin_pages()
listed = [_page(name, icon, help=summary, default=name == "overview") for name, icon, summary in _LISTED]
listed += [_plugin_page(path, page) for path, page in plugins.items()]
pages = [*listed, *(_page(name, icon, visibility="hidden") for name, icon in _HIDDEN)]
page = st.navigation(pages, position="top")
show.titled(page.title)
st.html(Path(__file__).with_name("app.css"))
address.begin()
begin()
with st.container(key="jump_to"):
    jump.offer([(page.title, page.url_path or "./") for page in listed])
hints = st.container()
for error in errors:
    hints.warning(escaped(str(error)), icon=":material/extension_off:")
try:
    with guarded():
        page.run()
    login.footer()
finally:
    for name, value in address.ignored().items():
        text = f"The link asks for {name} = {value[:80]}, which does not exist, so it was ignored."
        hints.warning(escaped(text), icon=":material/link_off:")
