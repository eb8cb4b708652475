"""Pictures of every page, light and dark: `python -m tests.dashboard.screenshots FOLDER`, or `make screenshots`.

The database is the one that `STACKRANK_DATABASE_URL` names, else a lifelike one made for the purpose.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from db.engine import connect
from tests.dashboard.seed import seed
from tests.dashboard.serving import serve

PAGES = {
    "overview": "/",
    "leaderboard": "/leaderboard?lb_pick=2%2C1",
    "leaderboard-cost": "/leaderboard?lb_tab=Cost+against+rate",
    "leaderboard-budget": "/leaderboard?lb_tab=Budget",
    "leaderboard-reliability": "/leaderboard?lb_tab=Reliability",
    "compare": "/compare?cmp_pick=2%2C1",
    "compare-categories": "/compare?cmp_pick=1%2C2%2C3&cmp_tab=By+category",
    "tool-sets": "/tool_sets",
    "failures": "/failures",
    "failures-where": "/failures?fp_tab=Where+it+went+wrong",
    "failures-aside": "/failures?fp_tab=Not+the+entrant%27s+fault",
    "tasks": "/tasks",
    "task": "/task?id=1",
    "runs": "/runs",
    "run": "/run?id=1",
    "run-specification": "/run?id=1&run_tab=Specification",
    "episodes": "/episodes",
    "episode": "/episode?id=4&step=3",
    "diverge": "/diverge?a=1&b=3",
}


def shoot(address: str, folder: Path, names: list[str], schemes: list[str]) -> None:
    """Write FOLDER/NAME-SCHEME.png for each."""
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        for scheme in schemes:
            context = browser.new_context(viewport={"width": 1360, "height": 900}, base_url=address)
            page = context.new_page()
            page.emulate_media(color_scheme=scheme)
            for name in names:
                page.goto(PAGES[name])
                page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=90_000)
                page.wait_for_function("!document.querySelector('[data-testid=stSkeleton]')", timeout=90_000)
                page.wait_for_timeout(800)
                # The page scrolls inside; the picture shows all of it.
                height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
                page.set_viewport_size({"width": 1360, "height": max(500, min(2400, height + 60))})
                page.wait_for_timeout(400)
                page.screenshot(path=folder / f"{name}-{scheme}.png")
                page.set_viewport_size({"width": 1360, "height": 900})
                print(folder / f"{name}-{scheme}.png", flush=True)
            context.close()
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", choices=list(PAGES), default=list(PAGES))
    parser.add_argument("--schemes", nargs="*", choices=["light", "dark"], default=["light", "dark"])
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        url = os.environ.get("STACKRANK_DATABASE_URL")
        if url is None:
            url = f"sqlite:///{made}/lifelike.db"
            engine = connect(url)
            seed(engine, tasks=40, attempts=3)
            engine.dispose()
        with serve(url, Path(made)) as address:
            shoot(address, arguments.folder, arguments.only, arguments.schemes)


if __name__ == "__main__":
    main()
