"""Disks, homes, ports and proxies unlike ours: one sentence with path and remedy, and nothing half written."""

from __future__ import annotations

import errno
import os
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from stackrank.db.connection.engine import connect, default_url, separate_pool
from stackrank.errors import UsageError
from stackrank.flows.runs.afterwards.export.exporter import exporter_names
from stackrank.home import home, write_whole
from stackrank.host import programs
from stackrank.host.disk import explain_os_error, is_full, naming
from stackrank.settings import sqlite_url
from tests.fixtures.calls import CommandLine
from tests.support.databases import Databases

pytestmark = pytest.mark.slow  # by its time

ODD = [
    "what? no",
    "100%",
    "a%3Fb",
    "c#d",
    "two  spaces",
    'it\'s "q"',
    "new\nline",
    "é ü",
    "-rf",
    "a:b@c",
    "$HOME",
    "x?y=1&z",
]


@pytest.mark.parametrize("name", ODD)
def test_a_home_of_any_name_has_its_own_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv("STACKRANK_DATABASE_URL", raising=False)
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / name))
    engine = connect()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with sqlite3.connect(home() / "stackrank.db") as connection:
        assert connection.execute("select count(*) from run").fetchone() == (0,)
    for other in (connect(default_url()), separate_pool(engine)):
        assert other.url.database == str(tmp_path / name / "stackrank.db")
        other.dispose()
    engine.dispose()
    # The address in the environment is that of the same file, from any folder.
    (tmp_path / name / "inner").mkdir()
    monkeypatch.chdir(tmp_path / name / "inner")
    monkeypatch.setenv("STACKRANK_DATABASE_URL", sqlite_url("relative?.db"))
    address = programs.environment()["STACKRANK_DATABASE_URL"]
    monkeypatch.chdir("/")
    connect(address).dispose()
    assert (tmp_path / name / "inner" / "relative?.db").is_file()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_question_mark_that_is_not_escaped(
    stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STACKRANK_DATABASE_URL", f"sqlite:///{tmp_path}/what?/x.db")
    result = stackrank("runs")
    assert "%3F" in result.sentence() and result.status == 1 and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EMFILE, errno.ENAMETOOLONG]
)
def test_errors_of_the_system_are_sentences(code: int) -> None:
    with pytest.raises(OSError) as error, naming(Path("/some/file")):
        raise OSError(code, os.strerror(code))
    sentence = explain_os_error(error.value)
    assert sentence.startswith("/some/file: ") and sentence.count(": ") == 2 and "Errno" not in sentence


@pytest.mark.parametrize(
    "command",
    ["export", "report", *(f"export --format {name}" for name in ("csv", "steps") if name in exporter_names())],
)
def test_what_does_not_fit(
    stackrank: CommandLine, databases: Databases, database: str, tmp_path: Path, command: str
) -> None:
    """`/dev/full` is a disk without space."""
    databases.seeded(Path(database.removeprefix("sqlite:///")), runs=1, live=False)
    result = stackrank(*command.split(), "--out", "/dev/full")
    assert result.status == 1 and "/dev/full: the disk is full: free some space" in result.sentence()


@pytest.mark.parametrize(
    ("disk", "full"),
    [
        ("--size 700000 --tmpfs {}", True),
        ("--size 700000 --tmpfs {} --remount-ro {}", False),
        ("--size 90000000 --tmpfs {} --remount-ro {}", False),
        ("--proc {}", False),
    ],
)
def test_a_disk_on_which_no_space_would_help_is_not_full(tmp_path: Path, disk: str, full: bool) -> None:
    program = f"from stackrank.host.disk import *; print(is_full(Path({str(tmp_path / 'home')!r})))"
    mounts = ["bwrap", "--dev-bind", "/", "/", *disk.replace("{}", str(tmp_path)).split()]
    completed = subprocess.run([*mounts, sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert completed.stdout == f"{full}\n"


IN_A_FULL_HOME = """
mkdir -p "$HOME_FOLDER"; $STACKRANK runs > /dev/null 2>&1
dd if=/dev/zero of="$HOME_FOLDER/filler" bs=4k status=none 2> /dev/null
{}; echo "status $?"; ls -a "$HOME_FOLDER"
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("$STACKRANK run --benchmark bugs --limit 1 --agent oracle --sandbox bubblewrap", ["full", "free some"]),
        ("$STACKRANK doctor", ["disk", "full home", "MB free"]),
        ("$STACKRANK up", ["full", "free some"]),
        ("$STACKRANK report --out $HOME_FOLDER/r.html", ["full", "free some"]),
    ],
)
def test_commands_in_a_full_home(tmp_path: Path, command: str, words: list[str]) -> None:
    folder = tmp_path / "full home"
    folder.mkdir()
    code = f"{sys.executable} -m stackrank.flows.cli.main"
    script = IN_A_FULL_HOME.format(command.replace("$HOME_FOLDER", '"$HOME_FOLDER"'))
    variables = {**programs.environment(), "STACKRANK_HOME": str(folder), "HOME_FOLDER": str(folder), "STACKRANK": code}
    variables.pop("STACKRANK_DATABASE_URL", None)
    tmpfs = ["bwrap", "--dev-bind", "/", "/", "--die-with-parent", "--size", "700000", "--tmpfs", str(folder)]
    completed = subprocess.run(
        [*tmpfs, "bash", "-c", script], env=variables, capture_output=True, text=True, timeout=300, check=False
    )
    output = completed.stdout + completed.stderr
    assert all(word in output for word in words), output
    assert "status 1" in output and "Traceback" not in output and ".part" not in output, output


@pytest.mark.parametrize("part", ["state.part", "state.json.part"])
def test_the_file_is_named_and_not_its_part(tmp_path: Path, part: str) -> None:
    file = tmp_path / "missing" / "state.json"
    with pytest.raises(OSError) as error, naming(file, file.with_name(part)):
        file.with_name(part).write_text("new")
    assert explain_os_error(error.value).startswith(f"{file}: there is no such")


def test_a_file_that_does_not_fit_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "state.json"
    write_whole(file, "old")
    monkeypatch.setattr(Path, "write_bytes", _no_space)
    with pytest.raises(OSError) as error:
        write_whole(file, "new")
    assert explain_os_error(error.value) == f"{file}: the disk is full: free some space"
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"] and file.read_bytes() == b"old"
    assert not is_full(tmp_path / "not" / "there")


def _no_space(*_arguments: object, **_options: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


SERVING = ["metrics", "worker", "dashboard", "demo-endpoint", "mcp shop-filters --http", "serve-env bugs/shop-filters"]
HIDDEN = {"mcp", "serve-env"} - {point.name for point in entry_points(group="stackrank.commands")}
"""The commands of extensions that are not installed."""


@pytest.mark.parametrize("command", [command for command in SERVING if command.split()[0] not in HIDDEN])
def test_a_taken_port(stackrank: CommandLine, database: str, command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = stackrank(*command.split(), "--port", str(port))
        assert (result.status, f"127.0.0.1:{port}" in result.sentence()) == (2, True)
        assert "choose another --port" in result.sentence()


class Refuses(BaseHTTPRequestHandler):
    """A proxy that forwards nothing."""

    def refuse(self) -> None:
        self.server.asked.append(self.requestline)  # type: ignore[attr-defined]
        self.send_error(502)

    do_GET = do_POST = do_CONNECT = refuse

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What a proxy is asked that every variable names."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as server:
        server.asked = []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, address)
            monkeypatch.setenv(name.upper(), address)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        yield server.asked  # type: ignore[attr-defined]
        server.shutdown()


CLIENTS = {
    "urllib": "from urllib.request import urlopen; urlopen('{url}').read()",
    "httpx": "import httpx; httpx.get('{url}').raise_for_status()",
    "requests": "import requests; requests.get('{url}').raise_for_status()",
    "openai": "import openai; openai.OpenAI(base_url='{url}', api_key='k', max_retries=0).models.list()",
    "prefect": "from prefect.client.base import PrefectHttpxAsyncClient as C; import asyncio;"
    "asyncio.run(C(base_url='{url}', enable_csrf_support=False).get('/'))",
}


class Answers(BaseHTTPRequestHandler):
    """A server of this machine."""

    def do_GET(self) -> None:
        """Answer anything."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"object": "list", "data": []}')

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("client", CLIENTS)
def test_this_machine_is_never_asked_through_a_proxy(proxy: list[str], client: str, host: str) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        code = CLIENTS[client].format(url=f"http://{host}:{server.server_port}")
        ended = programs.run(programs.python("-c", code), timeout_s=120)
        assert (ended.status, proxy) == (0, []), ended.error_text
        server.shutdown()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, None),
        ({"HTTPS_PROXY": "http://p"}, "localhost,127.0.0.1,::1"),
        ({"ALL_PROXY": "socks5://p", "NO_PROXY": "a.example, localhost"}, "a.example,localhost,127.0.0.1,::1"),
        ({"http_proxy": "http://p", "no_proxy": "*"}, "*"),
        ({"http_proxy": "", "NO_PROXY": "x"}, "x"),
    ],
)
def test_hosts_without_a_proxy(monkeypatch: pytest.MonkeyPatch, given: dict[str, str], expected: str | None) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, text in given.items():
        monkeypatch.setenv(name, text)
    variables = programs.environment()
    assert variables.get("NO_PROXY", variables.get("no_proxy")) == expected


def test_a_port_of_another_machine() -> None:
    with pytest.raises(UsageError, match="choose another --port or --host"):
        from stackrank.host.listening import listen

        listen("192.0.2.1", 80)
