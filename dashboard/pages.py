"""The pages of the dashboard that plug-ins add under the entry point group `stackrank.pages`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stackrank.errors import PluginError
from stackrank.plugins import load_plugin, plugin_names
from stackrank.wording import words

if TYPE_CHECKING:
    from sqlalchemy import Engine

PAGES = "stackrank.pages"
LISTED = {
    "overview": ("home", "Who leads, what a debugger is worth, what has changed, and what is being played."),
    "leaderboard": (
        "leaderboard",
        "Which entrant resolves more, with 95% intervals, costs and failure points. Select two to compare them.",
    ),
    "compare": (
        "compare_arrows",
        "Two to four entrants, paired by task: how far ahead one is, on which tasks, and whether that could be chance.",
    ),
    "tool_sets": (
        "build",
        "What a tool is worth: the same agent and model with and without it, and how each tool is used.",
    ),
    "failures": ("troubleshoot", "How far episodes get, and where they first go wrong."),
    "tasks": ("task", "Every task: how hard it is, who resolves it, which ones may be defective."),
    "runs": ("play_circle", "Every run, newest first: its progress, its verdicts, its cost."),
    "episodes": (
        "list_alt",
        "Find episodes by entrant, task, verdict, failure point or tool, and open their traces.",
    ),
}
"""The pages that the bar on top lists: their paths in the address, icons and descriptions."""
HIDDEN = {
    "task": ("task", "tasks"),
    "run": ("play_circle", "runs"),
    "episode": ("bug_report", "episodes"),
    "diverge": ("fork_right", "episodes"),
    "against": ("compare_arrows", "runs"),
}
"""The pages about one thing, to which others lead: their paths, icons, and the listed pages that they belong to."""
SUMMARIES = {
    **{name: summary for name, (_, summary) in LISTED.items()},
    "task": "One task: what every entrant did with it, how hard it is, and whether it may be defective.",
    "run": "One run, live while it is played: its progress, entrants, failures, errors, and how to repeat it.",
    "episode": "One episode, step by step: what the agent thought and did, the source, the stack, and the verdict.",
    "diverge": "Two episodes of a task side by side, from the first step at which they differ.",
    "against": "Two runs: who became better or worse, on which tasks, and what changed in between.",
}
"""A sentence about each page."""


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


def title_of(name: str) -> str:
    """Return the title of a page that is no plug-in's."""
    return "Failure points" if name == "failures" else words(name).capitalize()


def page_names() -> list[str]:
    """Return the path of every page; the overview also has the empty path."""
    return ["", *LISTED, *HIDDEN, *plugin_pages()[0]]


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
