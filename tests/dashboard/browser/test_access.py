"""Accessibility of every page: axe-core, console errors, phone width, and Ctrl+K."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

import pytest

from tests.dashboard.browsing import TWICE, heading, ready, sync_api

# Chromium gives the keyboard whatever scrolls, such as Streamlit's long blocks of code; axe-core does not know it.
KNOWN = {"scrollable-region-focusable"}
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
PAGES = {
    "/": "Overview",
    "/leaderboard?lb_pick=2%2C1": "Leaderboard",
    "/compare": "Compare",
    "/compare?cmp_tab=By+category": "Compare",
    "/tool_sets": "Tool sets",
    "/failures?fp_tab=Where+it+went+wrong": "Failure points",
    "/tasks?tk_show=decisive": "Tasks",
    "/task?id=1": "account-transfer",
    "/proposals": "Proposals",
    "/runs": "Runs",
    "/run?id=1": "Run nightly",
    "/against?a=1&b=2": "nightly",
    "/episodes": "Episodes",
    "/episode?id=5": "cave-adventure",
    "/diverge?a=1&b=2": "account-transfer",
}
"""The title of each page."""
BACKGROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 23, 29)"}
SIZES = ((1440, 900), (1366, 768), (1920, 1080), (390, 844))
SETTLE = """() => Promise.race([
    Promise.allSettled(document.getAnimations().map(animation => animation.finished)),
    new Promise(done => setTimeout(done, 1_000)),
])"""
"""Waits until nothing fades, which takes less than a second: what was drawn anew is pale at first."""
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def listened(page: Any) -> Iterator[tuple[Any, list[str]]]:
    """A visitor, and the errors of the console but Streamlit's own: it asks for its health below each page, too."""
    errors: list[str] = []

    def listen(message: Any) -> None:
        if message.type == "error" and "_stcore" not in message.location["url"]:
            errors.append(message.text)

    page.on("console", listen)
    yield page, errors


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible_and_fit_a_phone(
    listened: tuple[sync_api.Page, list[str]], scheme: Literal["light", "dark"]
) -> None:
    page, errors = listened
    page.emulate_media(color_scheme=scheme)
    violations = []
    for place, (path, title) in enumerate(PAGES.items()):
        page.set_viewport_size({"width": 1440, "height": 900})
        page.goto(path)
        ready(page)
        heading(page, title)
        sync_api.expect(page.get_by_test_id("stApp")).to_have_css("background-color", BACKGROUND[scheme])
        # Each page on a phone and in one of the other sizes, which differ little.
        for width, height in (SIZES[3], SIZES[place % 3]):
            page.set_viewport_size({"width": width, "height": height})
            ready(page)
            page.evaluate(SETTLE)
            if page.evaluate(WIDER) > 0:
                violations.append((path, f"wider than {width}"))
            for violation in axe.Axe().run(page).response["violations"]:
                if violation["impact"] in ("serious", "critical") and violation["id"] not in KNOWN:
                    nodes = [(node["html"][:160], node["failureSummary"][:200]) for node in violation["nodes"][:4]]
                    violations += [(path, width, violation["id"], *node) for node in nodes]
    assert violations == [] and errors == []


def test_what_opens_above_a_dark_page_is_dark(page: sync_api.Page) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto("/leaderboard")
    ready(page)
    page.locator(".st-key-top_scope button").click()
    opened = page.get_by_test_id("stPopoverBody")
    sync_api.expect(opened.get_by_text("Counted", exact=True)).to_have_css("color", "rgb(124, 196, 239)")


GO_TO: dict[str, tuple[tuple[str, ...], str]] = {
    "episode 5 step 2": ((), "/episode?id=5&step=2"),
    "4": (("ArrowDown", "ArrowDown"), "/task?id=4"),
    'qwen3-coder / "rewrite': (("ArrowUp", "ArrowUp"), "/episodes?ep_query=entrant*rewrite%22"),
    "run 1": ((), "/run?id=1"),
    "fail": ((), "/failures"),
    "account tran": ((), "/task?id=1"),
    "llama debug account-tr": ((), "/episode?id=*"),
    "-breakpoint": ((), "/episodes?ep_query=-breakpoint"),
}
"""What is typed -> the keys after it, and where they lead."""


@pytest.mark.parametrize(
    "places", [slice(1), pytest.param(slice(1, None), marks=pytest.mark.exhaustive)], ids=["one", "the others"]
)
def test_ctrl_k_navigation(page: sync_api.Page, places: slice) -> None:
    page.goto("/leaderboard")
    ready(page)
    for typed, (keys, visible) in list(GO_TO.items())[places]:
        page.locator("dialog[data-keys=k]").wait_for(state="attached")
        page.keyboard.press("Control+k")
        field = page.get_by_role("combobox", name="Go to")
        sync_api.expect(field).to_be_focused()
        field.fill(typed)
        for key in [*keys, "Enter"]:
            page.keyboard.press(key)
        page.wait_for_url(re.compile(re.escape(visible).replace(r"\*", ".*") + "$"))
        ready(page)
    page.locator("dialog[data-keys=k]").wait_for(state="attached")
    page.keyboard.press("Control+k")
    titles = [
        violation
        for violation in axe.Axe().run(page).response["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    assert [violation["id"] for violation in titles if violation["id"] not in KNOWN] == []
    page.keyboard.press("Escape")
    sync_api.expect(page.get_by_role("combobox", name="Go to")).to_be_hidden()


def test_keys_work_after_a_double_render(page: sync_api.Page) -> None:
    page.add_init_script(TWICE)
    page.goto("/episode?id=7&step=3")
    ready(page)
    page.locator("html[data-twice]").wait_for(state="attached")
    page.locator("dialog[data-keys=k]").wait_for(state="attached")
    page.keyboard.press("j")
    page.wait_for_function("new URLSearchParams(location.search).get('step') === '4'")
    page.keyboard.press("Control+k")
    sync_api.expect(page.get_by_role("combobox", name="Go to")).to_be_focused()
