"""The web application that `streamlit run` finds here: Streamlit's own, with its static files compressed.

A browser that leaves while a page is being sent is no error, and leaves no traceback in the log.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnected

from stackrank.dashboard.browser import modules
from stackrank.dashboard.launch import HEALTH
from stackrank.dashboard.pages import LISTED, page_names, plugin_pages, title_of
from stackrank.host.listening import is_known_host, is_loopback
from stackrank.settings import settings

_STATIC = Path(st.__file__).parent / "static" / "static"
_SCRIPTS = _STATIC / "js"
_IMPORTED = re.compile(r'(?:from|import)"\./([^"]+\.js)"')
_TYPES = {".js": "text/javascript", ".css": "text/css"}
_CACHED = "public, immutable, max-age=31536000"
_BARE = ("Html", "BidiComponent")
_USUAL = (*_BARE, "DataFrame", "DownloadButton", "Metric", "PageLink")
"""The parts of Streamlit that nearly every page is made of."""
_CHARTS = (*_USUAL, "ArrowVegaLiteChart", "embed", "vega-interpreter")
_FILTERED_CHARTS = (*_CHARTS, "Selectbox", "Multiselect", "ButtonGroup")
_PARTS = {
    "leaderboard": _FILTERED_CHARTS,
    "tool_sets": _FILTERED_CHARTS,
    "failures": _FILTERED_CHARTS,
    "run": _CHARTS,
    "episode": _BARE,
    "diverge": _BARE,
}
"""The pages that are made of other parts, with those parts."""
_NOT_FOUND = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Not found</title>
<style>:root { color-scheme: light dark; font: 15px "Source Sans", sans-serif }
html { color: light-dark(#0B1016, #E8EDF2); background: light-dark(white, #12171D) }
body { margin: 0 }
nav, main { padding: 0.75rem clamp(1rem, 3vw, 2.5rem) }
nav { border-bottom: 1px solid light-dark(#DCE2E8, #2A333C) }
h1 { font-size: 28px; font-weight: 650 }
a { color: inherit; margin-right: 1rem; text-decoration: none; line-height: 2; display: inline-block }
a:hover { text-decoration: underline }
</style></head><body><nav>{pages}</nav><main><h1>Not found</h1><p>stackrank has no page with this address.</p></main>
</body></html>
"""


class KnownHosts:
    """Refuses requests by a name that nobody gave to this dashboard, so that no page of others can read it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        listening, public = str(st.get_option("server.address") or ""), settings().dashboard_url
        self._names = {name for name in (listening, urlsplit(public).hostname) if name}
        # Who listens for other machines has a login, or something in front that knows the names.
        self._any = not is_loopback(listening) and not public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer a request by a known name."""
        if scope["type"] in ("http", "websocket") and not self._any and not scope["path"].endswith(HEALTH):
            host = Headers(scope=scope).get("host", "")
            if not is_known_host(host, self._names):
                if scope["type"] == "websocket":
                    await send({"type": "websocket.close", "code": 1008})
                    return
                text = f"This dashboard is not called {host}: set STACKRANK_DASHBOARD_URL to its address.\n"
                await Response(text, 421, media_type="text/plain")(scope, receive, send)
                return
        await self._app(scope, receive, send)


class CompressedFiles:
    """Serves the scripts and styles of Streamlit's pages and our own modules, each compressed once and then kept.

    Streamlit sends them uncompressed, because Starlette's middleware would compress them again for every visitor. Their
    names contain a hash of their content, so browsers may cache them, too.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        # A request can name only these files; it is never turned into a path.
        files = (file for file in _STATIC.rglob("*") if file.suffix in _TYPES)
        self._files = {str(file.relative_to(_STATIC)): file for file in files}
        self._files |= {f"{modules.FOLDER}/{name}": file for name, file in modules.FILES.items()}
        self._compressed: dict[str, bytes] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for one of the files, and leave every other to the application."""
        name = scope["path"].rpartition("/static/")[2] if scope["type"] == "http" else ""
        file = self._files.get(name)
        if file is None or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        if name not in self._compressed:
            self._compressed[name] = await run_in_threadpool(_compress, file)
        content, headers = self._compressed[name], {"cache-control": _CACHED, "vary": "Accept-Encoding"}
        if "gzip" in Headers(scope=scope).get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
        else:
            content = gzip.decompress(content)
        await Response(content, headers=headers, media_type=_TYPES[file.suffix])(scope, receive, send)


class ScriptsAhead:
    """Adds to a page's headers the names of the scripts it will need, so that the browser fetches them at once.

    Otherwise the browser requests the script of a table or a chart only when the first one is drawn, after the page's
    program has computed its content, and only then the scripts that this script needs.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._usual = _hints(_USUAL)
        self._of_page = {page: _hints(parts) for page, parts in _PARTS.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer, and add the header to its pages."""

        async def hinted(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                if headers.get("content-type", "").startswith("text/html"):
                    page = scope["path"].rpartition("/")[2]
                    headers["link"] = self._of_page.get(page, self._usual)
            await send(message)

        await self._app(scope, receive, hinted if scope["type"] == "http" else send)


class MissingPages:
    """Answers 404, with a heading and the pages that there are. Streamlit would show its first page.

    The first page has the empty path. Streamlit calls it missing at its name, so a browser is sent on from there.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        base = str(st.get_option("server.baseUrlPath") or "").strip("/")
        self._base = f"/{base}/" if base else "/"
        self._pages = {*page_names(), "index.html"}
        titles = {name: title_of(name) for name in LISTED} | {
            name: page.title for name, page in plugin_pages()[0].items()
        }
        links = (f'<a href="{{root}}{escape(name)}">{escape(title)}</a>' for name, title in titles.items())
        self._not_found = _NOT_FOUND.replace("{pages}", " ".join(links))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer, and replace the page that it sends for every address."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"].removeprefix(self._base)
        name = path.rstrip("/")  # with a slash at its end, the application redirects to the page
        # Relative, because something in front may serve the dashboard below an address of its own.
        root = "../" * path.count("/") or "./"
        if name == "overview":
            query = scope["query_string"].decode("latin-1")
            await RedirectResponse(f"{root}?{query}" if query else root)(scope, receive, send)
            return
        if name in self._pages:
            await self._app(scope, receive, send)
            return
        is_page = False

        async def replaced(message: Message) -> None:
            nonlocal is_page
            if message["type"] == "http.response.start":
                headers = Headers(raw=message["headers"])
                is_page = message["status"] == 200 and headers.get("content-type", "").startswith("text/html")
                if is_page:
                    text = self._not_found.replace("{root}", root)
                    await Response(text, 404, media_type="text/html")(scope, receive, send)
            if not is_page:
                await send(message)

        await self._app(scope, receive, replaced)


class LeavingBrowsers:
    """Ends the session of a browser that is gone, which Streamlit mistakes for a message of the wrong kind.

    If a send is the first to notice that the connection is closed, Streamlit's next receive raises a RuntimeError.
    Streamlit then tries to close the connection, which raises another one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer, and ignore that a browser is gone."""
        try:
            await self._app(scope, receive, send)
        except WebSocketDisconnected:
            if scope["type"] != "websocket":
                raise


def _hints(parts: Sequence[str]) -> str:
    """Return the header that names the scripts of these parts, except those that Streamlit's index names itself.

    Another version of Streamlit may have no script of that name; then the browser finds the script later.
    """
    page = (_STATIC.parent / "index.html").read_text(encoding="utf-8")
    scripts: dict[str, None] = {}
    for part in parts:
        for file in _SCRIPTS.glob(f"{part}.*.js"):
            _gather(file.name, scripts)
    links = (f"<./static/js/{name}>; rel=modulepreload; fetchpriority=low" for name in scripts if name not in page)
    return ", ".join(links)


def _gather(script: str, imports: dict[str, None]) -> None:
    """Add a script, followed by the scripts that it imports as soon as it is loaded."""
    if script not in imports:
        imports[script] = None
        for name in _IMPORTED.findall((_SCRIPTS / script).read_text(encoding="utf-8")):
            _gather(name, imports)


def _compress(file: Path) -> bytes:
    return gzip.compress(file.read_bytes(), mtime=0)


app = st.App(
    Path(__file__).with_name("app.py"),
    middleware=[
        Middleware(KnownHosts),
        Middleware(LeavingBrowsers),
        Middleware(MissingPages),
        Middleware(CompressedFiles),
        Middleware(ScriptsAhead),
    ],
)
