"""The page of proposals: the queue, both sides of a change, and decisions by keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stackrank.dashboard.parts.side_by_side import as_html, sides
from stackrank.db import queries
from stackrank.extensions.fix.decisions import Proposals
from stackrank.terms import DecisionKind
from tests.dashboard.browsing import TWICE, heading, ready, sync_api
from tests.dashboard.seed import HOSTILE
from tests.support.databases import Databases
from tests.support.shop import FIX, OTHER_FIX, SECOND_FIX, evidence, proposal_row
from tests.support.waiting import wait_for


def proposed(seeded: SimpleNamespace, diffs: dict[str, str]) -> list[int]:
    """Proposals of a filled database: problem -> change."""
    ids = seeded.made.runs[0], next(iter(seeded.made.entrants.values())), seeded.made.episodes[0]
    titles = {name: f"{HOSTILE} {name}" for name in diffs}
    rows = [
        proposal_row(
            *ids,
            problem=name,
            title=titles[name],
            diff=diff,
            doubts=["x"] * n,
            tests=[name],
            evidence=evidence(fixed=[name], target={name: ["failed", "passed"]}),
        )
        for n, (name, diff) in enumerate(diffs.items())
    ]
    return Proposals(seeded.store.engine).propose(rows)


@pytest.fixture
def filled(databases: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    from tests.fixtures.dashboard import _filled

    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "home"))
    yield from _filled(databases, tmp_path)


def test_both_sides_of_a_change() -> None:
    (file,) = sides(FIX)
    left_lines, right_lines = file.before.splitlines(), file.after.splitlines()
    assert len(left_lines) == len(right_lines) == 5 and file.path == "shop/cart.py"
    assert left_lines[2] == "-    3     for index in range(1, len(prices)):"
    assert right_lines[2] == "+    3     for index in range(0, len(prices)):"
    assert left_lines[1] == right_lines[1] == "     2     result = 0"
    longer = FIX.replace("@@ -1,5 +1,5 @@", "@@ -1,5 +1,6 @@").replace("+    for", "+    # all of them\n+    for")
    (file,) = sides(longer)
    assert file.before.splitlines()[3] == "" and file.after.splitlines()[3].startswith("+    4")


def test_the_words_that_differ_are_marked() -> None:
    before, after = as_html(sides(FIX)[0])
    assert "for index in range(<mark>1</mark>, len(prices)):" in before
    assert "for index in range(<mark>0</mark>, len(prices)):" in after
    other = FIX.replace("range(0, len(prices))", "y = <b>work</b>").replace("+    for index in", "+   ")
    assert "<mark>" not in "".join(as_html(sides(other)[0])), "another line"
    assert "&lt;b&gt;work&lt;/b&gt;" in as_html(sides(other)[0])[1]
    long = FIX.replace("range(1, ", f"range({'1 ' * 20_000}, ")
    assert as_html(sides(long)[0])[0].count("1 ") >= 20_000, "all of a long line, in little time"


def test_an_empty_queue_and_a_wrong_address(visit: Any, filled: SimpleNamespace) -> None:
    app = visit(filled.url, "proposals")
    assert "Nothing is proposed yet" in app.markdown[1].value
    proposed(filled, {"p": FIX})
    app = visit(filled.url, "proposals", pr_id="4711")
    assert any("4711" in element.value for element in app.warning)


def approve(app: Any) -> Any:
    """Press the button, and the one in the dialogue."""
    asked = app.button(key="pr_approve").click().run()
    return asked.button(key="FormSubmitter:proposal_why-Approve").click().run()


def test_a_decision_is_the_reader_s_and_is_about_what_was_shown(
    visit: Any, filled: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STACKRANK_OWNER", "ann")
    first, two = proposed(filled, {"p": FIX, "q": SECOND_FIX})
    app = visit(filled.url, "proposals")
    approve(app)
    assert queries.proposal(filled.store.engine, first)["decision"]["person"] == "ann"
    # While the second one is on the screen, somebody else decides, and then a change takes its place.
    for number, happens in (
        (two, lambda digest: Proposals(filled.store.engine).decide(
            two, DecisionKind.REJECTED, digest=digest, reason="No.", person="bob")),
        (proposed(filled, {"r": OTHER_FIX})[0], lambda _: proposed(filled, {"r": FIX.replace("0, len", "0,len")})),
    ):  # fmt: skip
        app = visit(filled.url, "proposals", pr_id=str(number))
        happens(queries.proposal(filled.store.engine, number)["digest"])
        approve(app)
        assert len(app.error) == 1 and queries.proposal(filled.store.engine, number)["status"] != "approved"


def test_one_decision_is_enough_for_several_changes_that_mend_the_same(visit: Any, filled: SimpleNamespace) -> None:
    (first,) = proposed(filled, {"p": FIX})
    ids = filled.made.runs[0], next(iter(filled.made.entrants.values())), filled.made.episodes[0]
    (two,) = Proposals(filled.store.engine).propose([proposal_row(*ids, problem="q", diff=OTHER_FIX, tests=["p"])])
    approve(visit(filled.url, "proposals", pr_id=str(first)))
    app = visit(filled.url, "proposals", pr_id=str(two))
    assert f"Proposal {first}, which is approved, fixes everything" in app.info[0].value
    assert app.button(key="pr_approve").disabled and not app.button(key="pr_reject").disabled
    assert any(element.value.startswith("0 proposals wait for a decision") for element in app.caption)


def _type_why(page: sync_api.Page, text: str) -> None:
    """Into the dialogue that is open, by keyboard alone."""
    field = page.get_by_role("dialog").locator("textarea")
    sync_api.expect(field).to_be_visible()
    for _ in range(5):
        if field.evaluate("field => field === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.type(text)
    page.keyboard.press("Control+Enter")
    sync_api.expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.exhaustive
def test_by_keyboard_alone(tour: tuple[sync_api.Page, str], watched: SimpleNamespace) -> None:
    page, scheme = tour
    engine = watched.store.engine
    for row in queries.proposals(engine):  # what the other colour scheme has left would be the next one
        if row["status"] == "open":
            Proposals(engine).decide(row["id"], DecisionKind.APPROVED, digest=row["digest"], reason="", person="ann")
    names = [f"{scheme}-{n}" for n in range(3)]
    diffs = [element.replace("shop/cart.py", f"shop/{scheme}.py") for element in (FIX, SECOND_FIX, OTHER_FIX)]
    first, second, third = proposed(watched, dict(zip(names, diffs, strict=True)))
    page.add_init_script(TWICE)
    page.goto(f"/proposals?pr_id={first}")
    ready(page)
    heading(page, f"Proposal {first}")
    background = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 23, 29)"}[scheme]
    assert page.title() == "Proposals - stackrank"  # a hostile title is text
    sync_api.expect(page.get_by_text("range(0, len(prices))").first).to_be_visible()
    page.locator("[data-keys=arcn]").wait_for(state="attached")
    page.keyboard.press("n")
    heading(page, f"Proposal {second}")
    ready(page)
    page.keyboard.press("c")
    _type_why(page, "an apt name, rare")  # with every key that means something elsewhere
    sync_api.expect(page.get_by_text("an apt name, rare", exact=True)).to_be_visible()
    ready(page)
    page.keyboard.press("r")
    _type_why(page, "Too narrow.")
    heading(page, f"Proposal {third}")
    ready(page)
    page.keyboard.press("a")
    _type_why(page, "")
    heading(page, f"Proposal {first}")
    ready(page)
    found_rows = {number: queries.proposal(engine, number) for number in (first, second, third)}
    assert [row["status"] for row in found_rows.values()] == ["open", "rejected", "approved"]
    assert found_rows[second]["decision"]["reason"] == "Too narrow." and len(found_rows[second]["comments"]) == 1
    page.keyboard.press("a")
    _type_why(page, "as it should be")
    wait_for(lambda: queries.proposal(engine, first)["status"] == "approved", "the last decision")
    sync_api.expect(page.get_by_role("heading", name="What people accept")).to_be_visible()
    sync_api.expect(page.get_by_role("heading", name="Why changes were rejected")).to_be_visible()
    page.get_by_role("link", name="The episode, step by step").click()
    heading(page, "Step")
