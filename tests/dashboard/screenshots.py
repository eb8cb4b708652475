"""Screenshots of every page with four data sets: `python -m tests.dashboard.screenshots FOLDER`, or `make screenshots`.

FOLDER/DATA/NAME-SCHEME-WIDTH.png is what a person sees of a page who scrolls down, on a phone if it is narrow;
FOLDER/DATA/sheets/NAME.png shows all pictures of a page together. Ends with 1 where a page shows an exception, writes
errors to the console, or is wider than its window.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from urllib.parse import quote_plus

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.extensions.fix.decisions import Proposals
from tests.bench.scenarios.big_database import fill
from tests.dashboard.browsing import ARGUMENTS, find_browser, opens_for_certain, ready
from tests.dashboard.seed import seed
from tests.dashboard.serving import serve
from tests.dashboard.traces import add_many
from tests.support.shop import SECOND_FIX, proposal_row

_PHONE = 390
_PHONES = "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"
"""What the browser of a phone calls itself, by which a page knows it before it is drawn."""
SIZES = ((1440, 900), (1366, 768), (1920, 1080), (_PHONE, 844))
FEW = (*SIZES[:2], SIZES[3])
"""Sizes of the pictures of other data than the demo's."""
SCHEMES = ("light", "dark")
FOR_DOCS = ("leaderboard", "compare", "tool-sets", "episode")
_HIGHEST = 2400
"""Pixels of the highest picture."""
_SHEET = 0.4
"""The scale of pictures on a sheet."""


def _demo(engine: Engine) -> None:
    contents = seed(engine, tasks=20, attempts=2)
    ids = contents.runs[0], next(iter(contents.entrants.values())), contents.episodes[0]
    second = {"problem": "tests.test_cart.test_largest", "title": "tests/test_cart.py::test_largest fails"}
    proposal = {"diff": SECOND_FIX, "tests": ["tests/test_cart.py::test_largest"], "doubts": []}
    Proposals(engine).propose([proposal_row(*ids), proposal_row(*ids, **second, **proposal)])


def _large(engine: Engine) -> None:
    fill(engine, episodes=10_000, steps=100_000)


def _running(engine: Engine) -> None:
    contents = seed(engine, runs=2, tasks=6)
    playing = queries.episodes(engine, contents.live_run, status="running", limit=1)[0]["id"]
    add_many(Store(engine), playing, 7)


DATA: dict[str, Callable[[Engine], None]] = {
    "demo": _demo,
    "empty": lambda engine: None,
    "large": _large,
    "running": _running,
}


def _of_running(engine: Engine) -> dict[str, str]:
    run = queries.runs(engine, status="running", limit=1)[0]["id"]
    finished, playing = (queries.episodes(engine, run, status=state, limit=1)[0]["id"] for state in ("done", "running"))
    return {
        "overview": "/",
        "leaderboard": f"/leaderboard?run={run}",
        "runs": "/runs",
        "run": f"/run?id={run}",
        "run-episodes": f"/run?id={run}&run_tab=Episodes",
        "episodes": f"/episodes?run={run}",
        "episode": f"/episode?id={finished}",
        "episode-playing": f"/episode?id={playing}",
    }


def pages(engine: Engine, data: str) -> dict[str, str]:
    """Name and address of each page: with the first pair that differs in its debugger, and a session of that."""
    if data == "running":
        return _of_running(engine)
    if not queries.runs(engine, limit=1):
        names = ("leaderboard", "compare", "tool_sets", "failures", "tasks", "runs", "episodes", "proposals")
        names += ("run", "episode", "task", "against", "diverge")
        return {"overview": "/", **{name: f"/{name}" for name in names}}
    pair = next(iter(queries.tool_sets(engine)), None)
    best, other_one = queries.leaderboard(engine)[:2]
    sides = (pair["first"], pair["second"]) if pair else (best, other_one)
    first, second = (side["entrant_id"] for side in sides)
    pick = f"{first}%2C{second}"
    task = (pair["only_second"] or [row["task"] for row in pair["by_task"]])[0] if pair else None
    finished = [run["id"] for run in queries.runs(engine, status="finished", limit=2)]
    candidates = (
        queries.episodes(engine, finished[0], entrant_id=side, task=task, limit=1) for side in (first, second)
    )
    first_episode, second_episode = (rows[0]["id"] for rows in candidates)
    paused = [step["index"] for step in queries.steps(engine, second_episode) if step["state"].get("locals")]
    return {
        "overview": "/",
        "leaderboard": f"/leaderboard?lb_pick={pick}",
        "leaderboard-cost": "/leaderboard?lb_tab=Cost+against+rate",
        "leaderboard-budget": "/leaderboard?lb_tab=Budget",
        "leaderboard-reliability": "/leaderboard?lb_tab=Reliability",
        "leaderboard-numbers": "/leaderboard?lb_tab=Numbers",
        "compare": f"/compare?cmp_pick={pick}",
        "compare-categories": f"/compare?cmp_pick={pick}&cmp_tab=By+category",
        "tool-sets": f"/tool_sets?ts_entrant={quote_plus(sides[1]['entrant'])}",
        "failures": "/failures",
        "failures-where": "/failures?fp_tab=Where+it+went+wrong",
        "failures-aside": "/failures?fp_tab=Not+the+entrant%27s+fault",
        "tasks": "/tasks",
        "tasks-decisive": "/tasks?tk_show=decisive",
        "proposals": "/proposals",
        "task": "/task?id=1",
        "runs": "/runs",
        "run": f"/run?id={finished[-1]}",
        "run-specification": f"/run?id={finished[-1]}&run_tab=Specification",
        "against": f"/against?a={finished[1]}&b={finished[0]}",
        "episodes": "/episodes",
        "episodes-query": "/episodes?ep_query=text%3A%22assert%22+verdict%3Aunresolved",
        "episode": f"/episode?id={second_episode}&step={(paused or [1])[0]}",
        "diverge": f"/diverge?a={first_episode}&b={second_episode}",
    } | ({"episode-long": "/episode?id=1&step=500"} if data == "large" else {})


def _beat(store: Store, runs: Sequence[int]) -> None:
    """Runs that go on say so, or pages would call them stalled."""
    for run in runs:
        store.heartbeat(run)


def _picture(page: Page, file: Path, size: tuple[int, int]) -> str:
    """Write what a page shows in a window of this size; says what is wrong with it."""
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_timeout(300)
    overflow = page.evaluate("(({scrollWidth, clientWidth}) => scrollWidth - clientWidth)(document.documentElement)")
    if not page.locator(".st-key-trace_header").count():  # beside a debugger, which takes the window's height
        # The page scrolls inside: a window as high as all of it, as far as a person would scroll.
        page_height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        page.set_viewport_size({"width": width, "height": max(height, min(_HIGHEST, page_height + 60))})
        page.wait_for_timeout(300)
    page.screenshot(path=file)
    return f"{file.name}: {overflow} pixels wider than the window" if overflow > 0 else ""


def shoot(
    browser: Browser,
    address: str,
    folder: Path,
    paths: dict[str, str],
    sizes: Sequence[tuple[int, int]],
    prepare: Callable[[], None],
) -> list[str]:
    """Write the pictures of these pages; says what is wrong with them."""
    wrong: list[str] = []
    for scheme, is_phone in product(SCHEMES, (False, True)):
        device_sizes = [size for size in sizes if (size[0] == _PHONE) == is_phone]
        agent = _PHONES if is_phone else None
        context = browser.new_context(base_url=address, color_scheme=scheme, user_agent=agent)  # type: ignore[arg-type]
        page = context.new_page()
        page.set_default_timeout(120_000)
        opens_for_certain(page)
        errors: list[str] = []
        page.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
        for name, path in paths.items():
            for place, (width, height) in enumerate(device_sizes):
                if not place:  # a window changes its width later, a phone does not
                    page.set_viewport_size({"width": width, "height": height})
                    prepare()
                    page.goto(path)
                    ready(page)
                    page.wait_for_timeout(800)
                wrong.append(_picture(page, folder / f"{name}-{scheme}-{width}.png", (width, height)))
            wrong += [f"{name}-{scheme}: {text}" for text in errors]
            errors.clear()
            print(folder / name, scheme, flush=True)
        context.close()
    return [text for text in wrong if text]


def sheet(folder: Path, name: str, sizes: Sequence[tuple[int, int]]) -> None:
    """All pictures of a page side by side, a row for each scheme."""
    rows = []
    for scheme in SCHEMES:
        row = []
        for width, _ in sizes:
            with Image.open(folder / f"{name}-{scheme}-{width}.png") as picture:
                row.append(picture.convert("RGB").resize([round(_SHEET * side) for side in picture.size]))
        rows.append(row)
    wide = max(sum(picture.width + 8 for picture in row) for row in rows)
    combined = Image.new("RGB", (wide, sum(max(picture.height for picture in row) + 8 for row in rows)), "#888888")
    y = 0
    for row in rows:
        x = 0
        for image in row:
            combined.paste(image, (x, y))
            x += image.width + 8
        y += max(picture.height for picture in row) + 8
    combined.save(folder / "sheets" / f"{name}.png")


def for_docs(folder: Path, docs: Path) -> None:
    """The pictures that the documentation shows, in few bytes: not too high, 128 colours."""
    for name in FOR_DOCS:
        with Image.open(folder / f"{name}-light-{SIZES[0][0]}.png") as picture:
            cut = picture.convert("RGB").crop((0, 0, picture.width, min(picture.height, 1150)))
            cut.quantize(128).save(docs / f"{name}.png", optimize=True)


def main() -> int:
    """Take the pictures; 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", nargs="*", choices=DATA, default=list(DATA))
    parser.add_argument("--only", nargs="*", help="names of pages")
    parser.add_argument("--docs", type=Path, help="folder for the four pictures of the documentation")
    options = parser.parse_args()
    wrong: list[str] = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find_browser(), args=ARGUMENTS)
        for data in options.data:
            sizes = SIZES if data == "demo" else FEW
            (options.folder / data / "sheets").mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory() as folder:
                url = f"sqlite:///{folder}/{data}.db"
                engine = connect(url)
                DATA[data](engine)
                all_paths = pages(engine, data)
                going = [run["id"] for run in queries.runs(engine, status="running")]
                paths = {name: path for name, path in all_paths.items() if not options.only or name in options.only}
                with serve(url, Path(folder)) as address:
                    beats = partial(_beat, Store(engine), going)
                    wrong += shoot(browser, address, options.folder / data, paths, sizes, beats)
                engine.dispose()
            for name in paths:
                sheet(options.folder / data, name, sizes)
        browser.close()
    if options.docs:
        for_docs(options.folder / "demo", options.docs)
    print(*wrong, sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
