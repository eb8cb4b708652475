"""Downloads source distributions from the package index that pip uses.

pip itself is not asked to: even `pip download` runs a source distribution's own set-up, on this machine. A file is
recognised by its hash, so it does not matter which index offers it.
"""

from __future__ import annotations

import functools
import hashlib
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import url2pathname

import httpx

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.sandbox.environments import pip_settings
from stackrank.extensions.authoring.benchmarks.deep_recipe import Recipe
from stackrank.home import home, locked, write_whole
from stackrank.host import programs
from stackrank.wording import count_of, print_err

_SHOW_INDEX = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
_TIMEOUT_S = 300.0
_LINK = re.compile(r"""<a\b[^>]*?\bhref\s*=\s*["']([^"']+)["']""", re.IGNORECASE)
_LARGEST_BYTES = 200 << 20
_DOWNLOADS = 6
"""How many files are downloaded at a time."""
_SAY_EVERY_S = 5.0
_unavailable: dict[str, str] = {}
"""Hash of a source distribution that could not be downloaded in this process -> why."""


def archive_path(sha256: str) -> Path:
    """Return where a source distribution is once it has been fetched."""
    return home() / "libraries" / f"{sha256}.tar.gz"


def fetch_missing(recipes: Iterable[Recipe]) -> None:
    """Download the source distributions that are missing, several at a time.

    One that cannot be downloaded is reported by `read_archive`, to those who need it.
    """
    _unavailable.clear()
    by_hash = {recipe.sha256: recipe for recipe in recipes}
    if all(archive_path(sha256).is_file() for sha256 in by_hash):
        return
    with locked("libraries"):
        missing = [recipe for sha256, recipe in by_hash.items() if not archive_path(sha256).is_file()]
        if missing:
            print_err(f"fetching {count_of(len(missing), 'library')}")
        told = time.monotonic()
        with ThreadPoolExecutor(max_workers=_DOWNLOADS) as threads:
            for number, _ in enumerate(threads.map(_try_to_download, missing), 1):
                if time.monotonic() - told > _SAY_EVERY_S:
                    told = time.monotonic()
                    print_err(f"fetched {number} of {len(missing)}")


def read_archive(library: str, version: str, sha256: str, fetch: bool) -> bytes:
    """Return a source distribution; download it if it is missing and `fetch` is set. Raises BenchmarkError."""
    file = archive_path(sha256)
    if not file.is_file():
        if not fetch:
            raise BenchmarkError(f"{library} {version} has not been downloaded yet")
        if sha256 in _unavailable:
            raise BenchmarkError(_unavailable[sha256])
        with locked("libraries"):
            if not file.is_file():
                print_err(f"fetching {library} {version}")
                write_whole(file, download(library, version, sha256))
    content = file.read_bytes()
    if not _has(content, sha256):
        raise BenchmarkError(f"{file} is damaged: delete it to download it again")
    return content


def _try_to_download(recipe: Recipe) -> None:
    try:
        content = download(recipe.library, recipe.version, recipe.sha256)
    except BenchmarkError as error:
        _unavailable[recipe.sha256] = str(error)
    else:
        write_whole(archive_path(recipe.sha256), content)


def download(library: str, version: str, sha256: str) -> bytes:
    """Return the source distribution of a release, which has this hash. Raises BenchmarkError."""
    variables, _folders = pip_settings()
    problem = "no index offers it"
    for page in _pages(library, variables):
        try:
            content = next((file for file in _files(page, version, sha256, variables) if _has(file, sha256)), None)
        except (OSError, httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            problem = f"{page}: {' '.join(str(error).split()) or type(error).__name__}"
            continue
        if content is not None:
            return content
    remedy = "check that pip reaches a package index"
    raise BenchmarkError(f"{library} {version} cannot be fetched, which is needed once: {remedy} ({problem})")


def _pages(library: str, variables: Mapping[str, str]) -> Iterator[str]:
    """Yield the pages, or folders, that list files of a library: pip's own order of places."""
    yield from variables.get("PIP_FIND_LINKS", "").split()
    if variables.get("PIP_NO_INDEX", "").lower() in ("1", "true", "yes", "on"):
        return
    name = re.sub(r"[-_.]+", "-", library).lower()
    for index in (
        variables.get("PIP_INDEX_URL") or _default_index(),
        *variables.get("PIP_EXTRA_INDEX_URL", "").split(),
    ):
        yield f"{index.rstrip('/')}/{name}/"


@functools.cache
def _default_index() -> str:
    return programs.run(programs.python("-c", _SHOW_INDEX)).text.strip()


def _files(page: str, version: str, sha256: str, variables: Mapping[str, str]) -> Iterator[bytes]:
    """Yield the contents of the archives on a page that may be the wanted one."""
    folder = _local(page)
    if folder is not None and folder.is_dir() and not (folder / "index.html").is_file():
        yield from (file.read_bytes() for file in folder.glob(f"*-{version}.tar.gz"))
        return
    text = _read(page, variables).decode("utf-8", "replace")
    for link in map(unescape, _LINK.findall(text)):
        address, _, fragment = urljoin(page, link).partition("#")
        algorithm, _, digest = fragment.partition("=")
        listed = digest == sha256 if algorithm == "sha256" else unquote(address).endswith(f"-{version}.tar.gz")
        if listed:
            yield _read(address, variables)


def _local(address: str) -> Path | None:
    if address.startswith("/"):
        return Path(address)
    return Path(url2pathname(urlsplit(address).path)) if address.startswith("file:") else None


def _read(address: str, variables: Mapping[str, str]) -> bytes:
    place = _local(address)
    if place is not None:
        return (place / "index.html" if place.is_dir() else place).read_bytes()
    trusted = variables.get("PIP_TRUSTED_HOST", "").split()
    where = urlsplit(address)
    insecure = {where.hostname, where.netloc.rpartition("@")[2]} & set(trusted)
    verify: bool | str = False if insecure else variables.get("PIP_CERT") or True
    headers = {"Accept": "text/html, */*;q=0.1"}
    proxy = variables.get("PIP_PROXY") or None
    with (
        httpx.Client(verify=verify, proxy=proxy, headers=headers, timeout=_TIMEOUT_S, follow_redirects=True) as client,
        client.stream("GET", address) as answer,
    ):
        answer.raise_for_status()
        content = bytearray()
        for part in answer.iter_bytes():
            content += part
            if len(content) > _LARGEST_BYTES:
                raise ValueError("the file is too large")
    return bytes(content)


def _has(content: bytes, sha256: str) -> bool:
    return hashlib.sha256(content).hexdigest() == sha256
