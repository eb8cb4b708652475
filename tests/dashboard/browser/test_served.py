"""Static files: compression, caching, and the size of the first load."""

from __future__ import annotations

import gzip
import re
import urllib.error
import urllib.request
from contextlib import suppress
from urllib.parse import urljoin

import pytest
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketDisconnected

from stackrank.dashboard.asgi import LeavingBrowsers
from stackrank.dashboard.pages import LISTED, page_names
from tests.dashboard.browsing import ready, sync_api

FIRST_LOAD_BYTES = 1_500_000


def _get(address: str, **headers: str) -> tuple[bytes, dict[str, str]]:
    request = urllib.request.Request(
        address, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read(), {name.lower(): value for name, value in answer.headers.items()}


def test_scripts_are_compressed_for_clients_that_accept_it(served: str) -> None:
    page, headers = _get(served)
    assert headers["cache-control"] == "no-cache"
    names = re.findall(r'(?:src|href)="\./(static/\S+\.(?:js|css))"', page.decode())
    assert {name.rpartition(".")[2] for name in names} == {"js", "css"}
    for name in (names[0], next(name for name in names if name.endswith(".css"))):
        plain_body, plain_headers = _get(f"{served}/{name}")
        packed, told_packed = _get(f"{served}/{name}", Accept_Encoding="br, gzip")
        assert "content-encoding" not in plain_headers and told_packed["content-encoding"] == "gzip"
        assert gzip.decompress(packed) == plain_body and len(packed) < len(plain_body) / 2
        assert "immutable" in told_packed["cache-control"] and told_packed["vary"] == "Accept-Encoding"
        assert re.match(r"text/css|(text|application)/javascript", told_packed["content-type"])


@pytest.mark.parametrize("path", ["static/../../setup.py", "static/..%2f..%2fversion.py", "static/js/no.such.js"])
def test_files_outside_the_folder_are_not_served(served: str, path: str) -> None:
    try:
        body, headers = _get(f"{served}/{path}", Accept_Encoding="gzip")
    except urllib.error.HTTPError as error:
        assert error.code in (400, 404)
        error.close()
    else:  # what is not there is a page's address
        assert headers["content-type"].startswith("text/html") and b"<title>Streamlit" in body


@pytest.mark.parametrize("path", ["nothere", "not/here/", "not/leaderboard"])
def test_an_address_of_no_page_leads_to_those_that_there_are(served: str, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        _get(f"{served}/{path}")
    with caught.value as answer:
        links = [urljoin(answer.url, link) for link in re.findall(r'href="([^"]*)"', answer.read().decode())]
    assert answer.code == 404
    assert {f"{served}/{name}" for name in LISTED} <= set(links) <= {f"{served}/{name}" for name in page_names()}


def test_the_name_of_the_first_page_leads_to_it(page: sync_api.Page) -> None:
    page.goto("/overview?owner=ada")
    ready(page)
    assert page.url.endswith("/?owner=ada")
    sync_api.expect(page.get_by_role("heading", name="Overview", exact=True)).to_be_visible()
    sync_api.expect(page.get_by_text("Page not found")).to_have_count(0)


def test_the_first_load_is_small(page: sync_api.Page, served: str) -> None:
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.clearBrowserCache")
    sizes: list[float] = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto("/")
    ready(page)
    sync_api.expect(page.get_by_text("Infrastructure", exact=True)).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert 500_000 < sum(sizes) < FIRST_LOAD_BYTES


def test_pages_preload_long_scripts(page: sync_api.Page, served: str) -> None:
    """Else the browser asks for each of them only when what it draws has come."""
    for place, charts in (("/", False), ("/leaderboard", True)):
        requests: list[str] = []
        page.on("requestfinished", lambda request, requests=requests: requests.append(request.url))
        page.goto(place)
        ready(page)
        names = [url.rpartition("/")[2] for url in requests if "/static/js/" in url]
        body, headers = _get(served + place)
        hints = re.findall(r"<\./static/js/([^>]+)>; rel=modulepreload", headers["link"])
        assert any(name.startswith("embed.") for name in hints) == charts
        for name in hints:
            assert _get(f"{served}/static/js/{name}", Accept_Encoding="gzip")[1]["content-type"].startswith("text/java")
        scripts = set(hints) | set(re.findall(r"static/js/([^\"]+)", body.decode()))
        late = {name for name in names if name.endswith(".js") and name not in scripts}
        assert not {name for name in late if len(_get(f"{served}/static/js/{name}")[0]) > 100_000}
        assert not any(name.startswith("PlotlyChart") for name in names), "four times as long as all the others"


async def _talks(scope: Scope, receive: Receive, send: Send) -> None:
    """As Streamlit does: what cannot be received was no message of the right kind, and the connection is closed."""
    websocket = WebSocket(scope, receive, send)
    await websocket.accept()
    with suppress(WebSocketDisconnect):  # Streamlit's own sender notes it
        await websocket.send_bytes(b"a page")
    try:
        await websocket.receive_bytes()
    except RuntimeError:
        await websocket.close()


@pytest.mark.parametrize("kind", ["websocket", "http"])
def test_disconnected_browser_is_not_an_error(kind: str) -> None:
    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        if message["type"] == "websocket.send":
            raise OSError("the browser is gone")

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await _talks({**scope, "type": "websocket"}, receive, send)

    # Nothing in it waits, so no event loop is needed, of which Playwright keeps one in this thread.
    session = LeavingBrowsers(app)({"type": kind, "path": "/", "headers": []}, receive, send)
    with pytest.raises(StopIteration if kind == "websocket" else WebSocketDisconnected):
        session.send(None)
