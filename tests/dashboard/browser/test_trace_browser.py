"""The trace of an episode in a real browser: links, the source, live steps, hostile text."""

from __future__ import annotations

import re
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from stackrank.db.models.runs import Step
from tests.dashboard.browsing import at, heading, pressed, ready, selected, sync_api, tick
from tests.dashboard.traces import EVIL, add_evil, add_many, finish, new_episode

expect = sync_api.expect


def test_step_link_and_back_button(page: sync_api.Page) -> None:
    page.goto("/episode?id=7&step=3")
    ready(page)
    at(page, 3)
    pressed(page, "j", 4)
    page.locator('.row[data-step="6"]').click()
    at(page, 6)
    page.go_back()
    at(page, 4)
    page.go_forward()
    at(page, 6)
    page.reload()
    at(page, 6)
    page.go_back()
    at(page, 4)


def test_stepping_adds_one_history_entry_and_keeps_the_step_visible(page: sync_api.Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    page.goto("/episodes")
    ready(page)
    page.goto("/episode?id=4&step=1")
    ready(page)
    at(page, 1)
    for step in range(2, 5):
        pressed(page, "j", step)
    page.go_back()
    heading(page, "Episodes")


def test_a_branch_leads_to_its_parent(page: sync_api.Page, watched: SimpleNamespace) -> None:
    episode = new_episode(watched.store, name="branched")
    for index in range(5):
        action = {"tool": "branch", "state": {"kind": "branch", "at": 1}} if index == 3 else {"tool": "listdir"}
        watched.store.add_step(Step(episode_id=episode, index=index, **(action if index else {})))
    finish(watched.store, episode, steps=4)
    page.goto(f"/episode?id={episode}&step=4")
    ready(page)
    expect(page.locator(".row.left")).to_have_count(1)
    expect(page.locator(".row .tree.dot")).to_have_count(5)
    page.locator('.row[data-step="3"] .chip.fold').click()
    at(page, 1)


@pytest.mark.exhaustive
def test_source_marks_the_current_line(page: sync_api.Page, watched: SimpleNamespace) -> None:
    source = "".join(f"line_{number} = {number}\n" for number in range(1, 401))
    episode = new_episode(watched.store, files={"core.py": source}, name="far")
    state = {"file": "core.py", "line": 300, "breakpoints": [{"file": "core.py", "line": 5}]}
    watched.store.add_step(Step(episode_id=episode, index=0, tool="pdb", state=state))
    finish(watched.store, episode, steps=0)
    page.goto(f"/episode?id={episode}&step=0")
    ready(page)
    expect(page.locator(".line.current .count")).to_have_text(["300"])
    expect(page.locator(".line.current")).to_be_in_viewport()
    assert page.locator(".line").count() < 100, "only what is in view is drawn"
    expect(page.get_by_text("Line 300: 1 stop", exact=True)).to_be_visible()
    page.locator(".line .count", has_text=re.compile("^299$")).click()
    expect(page.get_by_text("Line 299: 0 stops")).to_be_visible()
    assert "step_line=299" in page.evaluate("location.search")
    page.locator(".points button").click()
    expect(page.locator(".line.breakpoint .count")).to_have_text(["5"])
    expect(page.locator(".line.breakpoint")).to_be_in_viewport()
    page.go_back()
    expect(page.get_by_text("Line 299: 0 stops")).to_be_visible()


@pytest.mark.exhaustive
def test_repeats_are_collapsed(page: sync_api.Page, watched: SimpleNamespace) -> None:
    episode = new_episode(watched.store, name="circles")
    for index in range(12):
        tool, arguments = ("view", {"path": "core.py"}) if 2 <= index < 10 else ("bash", {"command": f"echo {index}"})
        watched.store.add_step(Step(episode_id=episode, index=index, tool=tool, arguments=arguments))
    finish(watched.store, episode, steps=11)
    page.goto(f"/episode?id={episode}&step=1")
    ready(page)
    at(page, 1)
    expect(page.locator(".row")).to_have_count(5)
    expect(page.locator(".chip.fold")).to_have_text("8 times, to 9")
    pressed(page, "j", 2)
    pressed(page, "j", 10)
    pressed(page, "k", 2)
    page.keyboard.press("o")
    expect(page.locator(".row")).to_have_count(12)
    pressed(page, "j", 3)
    page.keyboard.press("x")
    page.keyboard.press("x")
    expect(page.locator(".row")).to_have_count(5)
    page.goto(f"/episode?id={episode}&step=7")
    ready(page)
    at(page, 7)  # who is sent there sees it


def test_a_thumb_steps_on_a_phone(page: sync_api.Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/episode?id=4&step=1")
    ready(page)
    at(page, 1)
    for name, step in (("Next step", 2), ("Next step", 3), ("Previous step", 2)):
        button = page.get_by_role("button", name=name)
        expect(button).to_be_in_viewport()
        box = button.bounding_box()
        assert box and box["height"] >= 44 and box["y"] > 844 / 2
        button.click()
        at(page, step)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_filters_are_behind_a_button_on_a_phone(page: sync_api.Page) -> None:
    page.goto("/tasks")
    ready(page)
    field = page.get_by_label("Task contains")
    expect(field).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(field).to_be_hidden()
    page.get_by_role("button", name="Filters").click()
    expect(field).to_be_visible()
    page.get_by_role("button", name="Hide filters").click()
    expect(field).to_be_hidden()


NOTHING_COMES = "export default () => {}"


def test_addressed_parts_are_sent_with_the_page(page: sync_api.Page) -> None:
    """Streamlit sends late. A reader who had gone back before that was shown this page again, which was empty."""
    requests: list[str] = []

    def sent(frame: bytes | str) -> None:
        message = BackMsg.FromString(frame if isinstance(frame, bytes) else frame.encode())
        if message.rerun_script.fragment_id:
            requests.append(message.rerun_script.fragment_id)

    page.on("websocket", lambda socket: socket.on("framesent", sent))
    page.route("**/lib/feed.js", lambda route: route.fulfill(body=NOTHING_COMES, content_type="text/javascript"))
    page.goto("/episode?id=7&step=3")
    ready(page)
    page.locator(".row").first.wait_for()
    page.wait_for_timeout(1000)
    assert requests == []
    page.keyboard.press("j")
    expect(page.locator('.row[aria-selected="true"]')).to_have_attribute("data-step", "4")
    page.wait_for_function("new URLSearchParams(location.search).get('step') === '4'")
    ready(page)
    assert requests, "a reader goes on"


@pytest.mark.exhaustive
def test_tab_is_kept_between_steps(page: sync_api.Page) -> None:
    page.goto("/episode?id=4&step=3")
    ready(page)
    page.get_by_role("tab", name="Tests").click()
    expect(page.get_by_text("The tests were not run yet.")).to_be_visible()
    expect(page.locator(".line.current .count")).to_have_text(["14"])
    expect(page.locator(".line.breakpoint .count")).to_have_text(["14"])
    pressed(page, "j", 4)
    pressed(page, "j", 5)
    expect(page.get_by_text("The tests were not run yet.")).to_be_visible()
    expect(page.locator(".line.current .count")).to_have_text(["15"])
    expect(page.locator(".line.current code")).to_have_text(["            result += item.price"])
    link = page.evaluate("location.href")
    page.goto("/runs")
    ready(page)
    page.goto(link)
    expect(page.locator(".line.current .count")).to_have_text(["15"])
    expect(page.get_by_role("tab", name="Tests")).to_have_attribute("aria-selected", "true")


LARGER = [pytest.param(size, marks=pytest.mark.exhaustive) for size in ((1440, 900), (1920, 1080))]


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", [(1366, 768), (390, 844), *LARGER])
def test_the_panes_fit_into_the_window(page: sync_api.Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto("/episode?id=4&step=7")
    ready(page)
    selected(page, 7)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    whole_box = page.locator(".whole").bounding_box()
    assert (
        whole_box
        and whole_box["x"] >= 0
        and whole_box["x"] + whole_box["width"] <= size[0]
        and whole_box["height"] >= 460
    )
    if size[0] > 1000:
        assert whole_box["y"] + whole_box["height"] <= size[1]
        for pane in (".box", ".source", ".body", ".stack", "canvas"):
            expect(page.locator(pane)).to_be_in_viewport(ratio=0.99)
        return
    for tab, pane in (("Source", ".source"), ("Stack", ".stack"), ("Diff", ".body"), ("Step", ".body")):
        page.locator(".tabs").get_by_role("tab", name=tab).click()
        expect(page.locator(pane)).to_be_visible()
        expect(page.locator(".box")).to_be_visible()


def test_live_steps_are_appended(page: sync_api.Page, watched: SimpleNamespace) -> None:
    store = watched.store
    episode = new_episode(store, name="live")
    page.goto(f"/episode?id={episode}")
    ready(page)
    expect(page.get_by_text("No step has been committed yet.")).to_be_visible()
    add_many(store, episode, 2)
    heading(page, "Step 1:")
    add_many(store, episode, 2, first=2)
    heading(page, "Step 3:")
    # Who reads a step stays there.
    pressed(page, "k", 2)
    add_many(store, episode, 2, first=4)
    expect(page.locator('.row[data-step="5"]')).to_be_visible()
    selected(page, 2)
    finish(store, episode, steps=5)
    expect(page.get_by_text("failure point: wrong fix")).to_be_visible()
    ready(page)
    sent: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.reload()
    ready(page)
    page.wait_for_timeout(1_500)
    sent_count = len(sent)
    page.wait_for_timeout(5_000)
    assert len(sent) == sent_count, "the refreshing goes on after the end"


@pytest.mark.exhaustive
def test_view_follows_the_newest_step_to_the_end(page: sync_api.Page, watched: SimpleNamespace) -> None:
    episode = new_episode(watched.store, name="watched to the end")
    add_many(watched.store, episode, 4)
    page.goto(f"/episode?id={episode}")
    ready(page)
    heading(page, "Step 3:")
    finish(watched.store, episode, steps=3, failure_step=1)
    expect(page.get_by_text("failure point: wrong fix")).to_be_visible()
    ready(page)
    at(page, 3)


@pytest.mark.exhaustive
def test_query_opens_an_episode_at_a_step(page: sync_api.Page) -> None:
    page.goto("/")
    ready(page)
    page.get_by_role("link", name="Episodes").first.click()
    heading(page, "Episodes")
    ready(page)
    query = page.get_by_role("textbox", name="Query")
    query.fill("entrant:llama task:account-transfer run:nightly step:6")
    query.press("Enter")
    page.wait_for_function("location.search.includes('step%3A6')")
    ready(page)
    tick(page, 1)
    page.get_by_role("link", name="Open episode").click()
    at(page, 6)


def test_hostile_text_is_inert(page: sync_api.Page, watched: SimpleNamespace) -> None:
    episode = new_episode(watched.store, name="evil")
    add_evil(watched.store, episode)
    alerts: list[str] = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    evil = quote(EVIL.replace("\0", ""))
    query = f"&step_local={evil}&find={evil}&step_file={evil}"
    for step, tab in ((1, "Step"), (1, "Source"), (2, "Tests"), (2, "Model"), (3, "Diff")):
        page.goto(f"/episode?id={episode}&step={step}&step_tab={tab}" + (query if tab == "Source" else ""))
        ready(page)
        selected(page, step)
        for folded in page.locator("summary").all():
            folded.click()
    page.goto(f"/episode?id={episode}&step=2")
    ready(page)
    code = page.locator(".body pre")
    script_text = code.filter(has_text="<script>document.title='owned'</script>")
    expect(script_text.filter(has_text="␛[31mred␛[0m ⟨U+202E⟩gnp.exe ␀ end").first).to_be_visible()
    row = page.locator('.row[data-step="2"] .text')
    expect(row).to_contain_text("<script>")
    # All that a page can bear of 5 MB, and the page still answers.
    page.get_by_text("Load 1,000,000 of").last.click()
    expect(code.filter(has_text="x" * 40_000)).to_have_count(1)
    page.evaluate("document.querySelector('.stMain').scrollTop = 0")
    pressed(page, "j", 3)
    pressed(page, "k", 2)
    assert page.title() == f"evil - entrant of evil - episode {episode} - stackrank" and alerts == []
    assert page.locator("img[src='x']").count() == 0
    assert page.evaluate("document.querySelectorAll('[dir=rtl]').length") == 0
