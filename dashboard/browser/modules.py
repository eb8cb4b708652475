"""Components made of JavaScript modules, which the dashboard serves as they are: nothing has to be built."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

HERE = Path(__file__).parent
FILES = {path.relative_to(HERE).as_posix(): path for path in sorted(HERE.rglob("*.js"))}
"""Every module by its name, `folder/file.js`."""
_CONTENT = b"".join(name.encode() + b"\0" + path.read_bytes() for name, path in FILES.items())
FOLDER = f"modules-{hashlib.sha256(_CONTENT).hexdigest()[:20]}"
"""The folder of the modules in an address. Its name changes with their content, so browsers may keep them for good."""
# Streamlit runs the text of a component at an address of its own, from which a relative one would lead nowhere.
_ENTRY = """const module = await import(new URL("./static/%s", document.baseURI))
export default module.default"""


def component(name: str, module: str, *, html: str = "", styles: Sequence[str] = ()) -> Any:
    """Register the component `stackrank_NAME`; `module`, `html` and `styles` name files of this folder."""
    return st.components.v2.component(
        f"stackrank_{name}",
        html=(HERE / html).read_text(encoding="utf-8") if html else None,
        css="\n".join((HERE / style).read_text(encoding="utf-8") for style in styles) or None,
        js=_ENTRY % f"{FOLDER}/{module}",
    )


def packed(value: Any) -> bytes:
    """Encode a value for a component as JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


_FEED = component("feed", "lib/feed.js")


def feed(source: int | str, name: str, value: Any) -> None:
    """Send a part of `source` to the component that shows it (`lib/parts.js`). The same part is sent only once."""
    mark = hashlib.sha256(f"{source}\0{name}".encode("utf-8", "replace")).hexdigest()[:20]
    _FEED(key=f"feed_{mark}", data=packed({"source": source, "name": name, "value": value}))
