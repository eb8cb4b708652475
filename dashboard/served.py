"""The dashboard as a web application, which `streamlit run` finds here: Streamlit's, with its own files compressed.

A browser that leaves while a page is sent to it is no error, and leaves no traceback in the log.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnected

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
"""The parts of the pages that are made of others."""


class CompressedFiles:
    """Answers for the scripts and styles of Streamlit's pages, each of which is compressed once and then kept.

    Streamlit sends them as they are, since Starlette's middleware would compress them anew for every visitor. Their
    names hold a hash of what is in them, so a browser may keep them, too.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        # Only what is there can be asked for; nothing is made of a path.
        files = (file for file in _STATIC.rglob("*") if file.suffix in _TYPES)
        self._files = {str(file.relative_to(_STATIC)): file for file in files}
        self._compressed: dict[str, bytes] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the application do it."""
        name = scope["path"].rpartition("/static/")[2] if scope["type"] == "http" else ""
        file = self._files.get(name)
        if file is None or scope["method"] != "GET" or "gzip" not in Headers(scope=scope).get("accept-encoding", ""):
            await self._app(scope, receive, send)
            return
        if name not in self._compressed:
            self._compressed[name] = await run_in_threadpool(_compress, file)
        headers = {"content-encoding": "gzip", "cache-control": _CACHED, "vary": "Accept-Encoding"}
        response = Response(self._compressed[name], headers=headers, media_type=_TYPES[file.suffix])
        await response(scope, receive, send)


class ScriptsAhead:
    """Names in a page's headers the scripts that it will need, so that the browser fetches them at once.

    Else it asks for the script of a table or a chart when the first one is drawn, after the page's own program has
    worked out what is in it; and only then for the scripts which that one needs.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._usual = _hints(_USUAL)
        self._of_page = {page: _hints(parts) for page, parts in _PARTS.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer."""

        async def hinted(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                if headers.get("content-type", "").startswith("text/html"):
                    page = scope["path"].rpartition("/")[2]
                    headers["link"] = self._of_page.get(page, self._usual)
            await send(message)

        await self._app(scope, receive, hinted if scope["type"] == "http" else send)


class LeavingBrowsers:
    """Ends the session of a browser that is gone, which Streamlit takes for a message of the wrong kind.

    Where a send notices first that the connection is closed, Streamlit's next receive raises a RuntimeError, and
    its answer to that, to close the connection, raises another one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer."""
        try:
            await self._app(scope, receive, send)
        except WebSocketDisconnected:
            if scope["type"] != "websocket":
                raise


def _hints(parts: Sequence[str]) -> str:
    """The header that names the scripts of these parts, apart from those that Streamlit's index names itself.

    Another version of Streamlit may have no script of that name; then the browser learns of it later.
    """
    named = (_STATIC.parent / "index.html").read_text(encoding="utf-8")
    scripts: dict[str, None] = {}
    for part in parts:
        for file in _SCRIPTS.glob(f"{part}.*.js"):
            _gather(file.name, scripts)
    links = (f"<./static/js/{name}>; rel=modulepreload; fetchpriority=low" for name in scripts if name not in named)
    return ", ".join(links)


def _gather(script: str, found: dict[str, None]) -> None:
    """Add a script, and behind it those that it imports as soon as it is loaded."""
    if script not in found:
        found[script] = None
        for name in _IMPORTED.findall((_SCRIPTS / script).read_text(encoding="utf-8")):
            _gather(name, found)


def _compress(file: Path) -> bytes:
    return gzip.compress(file.read_bytes(), mtime=0)


app = st.App(
    Path(__file__).with_name("app.py"),
    middleware=[Middleware(LeavingBrowsers), Middleware(CompressedFiles), Middleware(ScriptsAhead)],
)
