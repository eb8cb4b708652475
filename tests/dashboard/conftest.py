from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from stackrank.db.engine import connect
from stackrank.db.store import Store
from tests.dashboard.serving import serve
from tests.dashboard.trace_parts import play
from tests.support.databases import Databases
from tests.support.waiting import missing

_components = functools.cache(manifest_scanner.scan_component_manifests)


def _filled(databases: Databases, folder: Path) -> Iterator[SimpleNamespace]:
    url, made = databases.seeded(folder / "seeded.db")
    opened = connect(url)
    yield SimpleNamespace(url=url, store=Store(opened), made=made)
    opened.dispose()


@pytest.fixture(scope="session")
def seeded(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A filled database that tests only read: its address, its store, and what is in it."""
    yield from _filled(databases, tmp_path_factory.mktemp("seeded"))


@pytest.fixture(scope="session")
def watched(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A filled database of the served dashboard's own: what is written to it shows there."""
    yield from _filled(databases, tmp_path_factory.mktemp("watched"))


@pytest.fixture(scope="session")
def served(watched: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The dashboard over the filled database, started as the command line does, from some other folder."""
    with serve(watched.url, tmp_path_factory.mktemp("served")) as address:
        yield address


@pytest.fixture(scope="session")
def chromium() -> str:
    """A browser; missing, the test is skipped, but not in CI."""
    from tests.dashboard.browsing import find_browser

    return find_browser() or missing("Chromium is not installed (apt-get install chromium)")


@pytest.fixture
def app_file() -> Path:
    import stackrank.dashboard as dashboard

    return Path(dashboard.__file__).parent / "app.py"


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    """A browser. It ends with the module: until then, its event loop keeps other tests from starting theirs."""
    from tests.dashboard.browsing import ARGUMENTS, sync_api

    with sync_api.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=chromium, args=ARGUMENTS, headless=True)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def window(browser: Any, served: str) -> Iterator[Any]:
    """Where the visitors of a module are, one after the other: scripts that one of them has fetched are compiled."""
    context = browser.new_context(viewport={"width": 1440, "height": 1100}, base_url=served)
    context.set_default_timeout(120_000)
    yield context
    context.close()


@contextmanager
def _visitor(window: Any, served: str) -> Iterator[Any]:
    from tests.dashboard.browsing import opens_for_certain

    opened = window.new_page()
    errors: list[str] = []
    elsewhere: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    local = (served, served.replace("http", "ws"), "data:", "blob:")
    opened.on("request", lambda request: None if request.url.startswith(local) else elsewhere.append(request.url))
    opens_for_certain(opened)
    yield opened
    # What this visitor left is nothing that the next one knows.
    window.set_offline(False)
    stored = {"origin": served, "storageTypes": "cookies,local_storage,indexeddb"}
    window.new_cdp_session(opened).send("Storage.clearDataForOrigin", stored)
    opened.close()
    assert errors == [] and elsewhere == []


@pytest.fixture
def page(window: Any, served: str) -> Iterator[Any]:
    """A fresh visitor. Nothing may raise in the browser, and nothing may be fetched from elsewhere."""
    with _visitor(window, served) as opened:
        yield opened


@pytest.fixture(scope="module", params=["light", "dark"])
def tour(window: Any, served: str, request: pytest.FixtureRequest) -> Iterator[tuple[Any, str]]:
    """A visitor who goes from page to page in one colour scheme, and what that is; as `page` otherwise."""
    with _visitor(window, served) as opened:
        opened.emulate_media(color_scheme=request.param)
        yield opened, request.param


@pytest.fixture
def visit(app_file: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Open a page of the dashboard over a database; it must not raise."""
    # AppTest puts the page in the place of the main program, which processes that a later test spawns would run again.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    # Each AppTest reads what every installed package says of itself, which takes ten times as long as the page.
    monkeypatch.setattr(manifest_scanner, "scan_component_manifests", _components)

    def open_page(url: str, page: str, **query: str) -> AppTest:
        monkeypatch.setenv("STACKRANK_DATABASE_URL", url)
        st.cache_data.clear()
        app = AppTest.from_file(str(app_file), default_timeout=600)
        app.switch_page(f"app_pages/{page}.py")
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception, app.exception[0].stack_trace
        return app

    return open_page


@pytest.fixture
def played(tmp_path: Path) -> SimpleNamespace:
    """A database with one episode, see `trace_parts.play`."""
    return play(f"sqlite:///{tmp_path / 'x.db'}")
