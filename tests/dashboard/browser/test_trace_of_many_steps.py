"""A trace of 1,200 steps in a real browser: keyboard, timeline, virtual list, accessibility."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.dashboard.browsing import at, pressed, ready, selected, sync_api
from tests.dashboard.traces import add_many, finish, new_episode

expect = sync_api.expect


@pytest.fixture(scope="module")
def long(watched: SimpleNamespace) -> int:
    """An episode of 1,200 steps."""
    episode = new_episode(watched.store, name="long")
    add_many(watched.store, episode, 1201)
    milestones = {"reproduced": 0, "localized": 1, "breakpoint": 1, "inspected": 1, "edited": 1100}
    finish(watched.store, episode, steps=1200, failure_step=1100, milestones=milestones)
    return episode


@pytest.mark.exhaustive
def test_keyboard_navigation(page: sync_api.Page, long: int) -> None:
    page.goto(f"/episode?id={long}&step=22")
    ready(page)
    at(page, 22)  # the list is drawn, so it hears keys
    pressed(page, "j", 23)
    pressed(page, "k", 22)
    pressed(page, "n", 27)
    pressed(page, "p", 22)
    pressed(page, "f", 1100)
    # Hidden kinds are passed over; who jumps to one sees it again.
    page.locator("button.toggle", has_text="pdb").click()
    pressed(page, "j", 1102)
    expect(page.locator('.row[data-step="1100"]')).to_have_count(0)
    pressed(page, "j", 1104)
    pressed(page, "f", 1100)
    expect(page.locator("button.toggle", has_text="pdb")).to_have_attribute("aria-pressed", "true")
    # A key that is held sends only where it stops.
    for _ in range(30):
        page.keyboard.press("j", delay=5)
    at(page, 1130)
    # What is typed is no key.
    page.keyboard.press("/")
    page.keyboard.type("Thought number 113.")
    at(page, 1130)
    page.keyboard.press("Enter")
    at(page, 113)
    expect(page.locator(".finds")).to_have_text("1 step")
    page.keyboard.press("Escape")
    pressed(page, "j", 114)
    pressed(page, ".", 113)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    at(page, 113)
    page.keyboard.press("3")
    expect(page.get_by_role("tab", name="Tests")).to_have_attribute("aria-selected", "true")
    page.go_back()
    expect(page.get_by_role("tab", name="Step")).to_have_attribute("aria-selected", "true")


@pytest.mark.exhaustive
def test_line_and_local_history(page: sync_api.Page, long: int) -> None:
    page.goto(f"/episode?id={long}&step=21")
    ready(page)
    at(page, 21)
    expect(page.get_by_text("Line 10: ")).to_be_visible()
    pressed(page, "]", 28)
    pressed(page, "]", 35)
    pressed(page, "[", 28)
    expect(page.locator(".line.asked .count")).to_have_text(["10"])
    page.get_by_role("button", name="items", exact=True).click()
    spans = page.locator(".spans button")
    expect(spans).to_have_count(1)  # one value in one function
    expect(spans).to_contain_text("[1, 2]")
    link = page.evaluate("location.href")
    spans.click()
    at(page, 1)
    page.go_back()
    at(page, 28)
    page.goto(link)
    at(page, 28)
    expect(spans).to_have_count(1)


@pytest.mark.exhaustive
def test_timeline_zoom(page: sync_api.Page, long: int) -> None:
    page.goto(f"/episode?id={long}&step=600")
    ready(page)
    at(page, 600)
    for _ in range(3):
        page.keyboard.press("+")
    page.wait_for_function("new URLSearchParams(location.search).get('zoom') === '525-675'")
    page.locator("canvas").click(position={"x": 3, "y": 20})
    at(page, 525)
    canvas = page.locator("canvas").bounding_box()
    assert canvas
    page.mouse.move(canvas["x"] + canvas["width"] / 4, canvas["y"] + 20)
    page.mouse.down()
    page.mouse.move(canvas["x"] + canvas["width"] / 2, canvas["y"] + 20)
    page.mouse.up()
    page.wait_for_function("/^56[0-9]-60[0-9]$/.test(new URLSearchParams(location.search).get('zoom'))")
    page.keyboard.press("0")
    page.wait_for_function("!new URLSearchParams(location.search).has('zoom')")


@pytest.mark.exhaustive
def test_next_steps_are_prefetched(page: sync_api.Page, long: int) -> None:
    page.goto(f"/episode?id={long}&step=40")
    ready(page)
    at(page, 40)
    page.wait_for_function(
        """async episode => {
            const scripts = performance.getEntriesByType("resource").map(entry => entry.name)
            const url = scripts.find(name => name.endsWith("/lib/parts.js"))
            return url && (await import(url)).part(episode, "steps:60") !== undefined
        }""",
        arg=long,
    )
    page.context.set_offline(True)
    page.route("**/*", lambda route: route.abort())
    visible = page.evaluate(
        """async () => {
            const roots = [...document.querySelectorAll("*")].map(each => each.shadowRoot)
            const root = roots.find(each => each?.querySelector(".grid"))
            document.dispatchEvent(new KeyboardEvent("keydown", { key: "j" }))
            return [root.querySelector("h2").textContent, root.querySelector(".line.current .count").textContent,
                root.querySelector(".locals").textContent, root.querySelector(".body").textContent]
        }"""
    )
    assert visible[:3] == ["Step 41: pdb", "16", "items[1, 2]"] and "Observation number 41." in visible[3]


def test_long_trace_is_virtualized(page: sync_api.Page, long: int) -> None:
    page.goto(f"/episode?id={long}&step=1000")
    ready(page)
    selected(page, 1000)
    rows = page.locator(".row")
    assert 5 < rows.count() < 60
    page.locator(".box").evaluate("box => box.scrollTop = 0")
    first = page.locator('.row[data-step="1"]')
    expect(first).to_be_in_viewport()
    assert rows.count() < 60
    # Milestones are whole, however little room the rest has.
    chips = first.locator(".mark")
    assert chips.all_text_contents() == ["localized", "breakpoint", "inspected"]
    for chip in chips.all():
        assert chip.evaluate("chip => chip.scrollWidth <= chip.clientWidth + 1")
        expect(chip).to_be_in_viewport(ratio=1)
    page.locator("canvas").click(position={"x": 5, "y": 20})
    page.wait_for_function("Number(new URLSearchParams(location.search).get('step')) < 12")


@pytest.mark.exhaustive
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_long_trace_is_accessible(page: sync_api.Page, long: int, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    query = "&step_local=result&find=items"
    for path, width in (
        (f"/episode?id=4&step=3{query}", 1440),
        (f"/episode?id={long}&step=1100&step_tab=Tests", 1440),
        ("/episode?id=4&step=9&step_tab=Diff", 1440),
        ("/episode?id=4&step=3&step_tab=Stack", 390),
    ):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(path)
        ready(page)
        expect(page.locator('.row[aria-selected="true"]')).to_be_visible()
        expect(page.get_by_text("Looking…")).to_have_count(0)
        violations = Axe().run(page).response["violations"]
        assert [
            (violation["id"], [node["html"][:200] for node in violation["nodes"]]) for violation in violations
        ] == []
