"""The local Prefect server, for which a small stand-in is started in fractions of a second, and configured ones."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from stackrank.errors import NotReady
from stackrank.flows.services import background
from stackrank.flows.services import prefect_server as server
from tests.fixtures.flows import Answer

pytestmark = pytest.mark.slow  # by its time

# Answers /api/health after a while, as Prefect does, and ends when it is told to, unless STUBBORN.
STAND_IN = """
import http.server, os, signal, sys, time
if os.environ.get("STUBBORN"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/api/health" else 404)
        self.end_headers()
        self.wfile.write(b"true")
    def log_message(self, *arguments): pass
print("stand-in starts", flush=True)
if os.environ.get("BROKEN"):
    sys.exit("no server today")
time.sleep(float(os.environ.get("DELAY", "0.2")))
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of its own, no server configured, and the stand-in in place of Prefect."""
    for name in [name for name in os.environ if name.startswith("PREFECT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PREFECT_PROFILES_PATH", str(tmp_path / "none.toml"))
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path))
    monkeypatch.setattr(server, "_command", lambda port: [sys.executable, "-c", STAND_IN, str(port)])
    monkeypatch.setattr(background, "STOP_TIMEOUT_S", 1.0)
    yield tmp_path
    server.stop_server()


def test_import_is_cheap() -> None:
    """Every command imports this module; prefect alone would cost it seconds."""
    code = "import sys, stackrank.flows.services.prefect_server; sys.exit('prefect' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_start_find_status_stop(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    messages: list[str] = []
    assert server.server_status() is None
    assert server.stop_server() is False

    url = server.ensure_server(say=messages.append)
    assert len(messages) == 1 and "starting" in messages[0]
    assert server.ensure_server(say=messages.append) == url
    assert len(messages) == 1, "a server that runs is found without a word"

    status = server.server_status()
    assert status is not None
    assert (status["url"], status["healthy"]) == (url, True)
    assert json.loads((home / "prefect-server.json").read_text())["pid"] == status["pid"]
    assert "stand-in starts" in Path(status["log"]).read_text()
    assert capfd.readouterr() == ("", ""), "the server shares no output with its starter"
    assert os.getsid(status["pid"]) == status["pid"], "it outlives our terminal"

    assert server.stop_server() is True
    assert not psutil.pid_exists(status["pid"])
    assert server.server_status() is None
    assert server.stop_server() is False
    assert server.ensure_server(say=messages.append) == url, "the port of last time is taken again"


def test_another_process_owns_the_recorded_pid(home: Path) -> None:
    """After a restart of the machine the state file names the pid of someone else: neither used nor killed."""
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        state = {
            "pid": bystander.pid,
            "port": 4200,
            "url": "http://127.0.0.1:4200/elsewhere",
            "started": 1.0,
            "word": "x",
        }
        (home / "prefect-server.json").write_text(json.dumps(state))
        assert server.server_status() is None
        assert server.stop_server() is False
        assert not server.ensure_server(say=print).endswith("elsewhere")
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": 1}'])
def test_damaged_state_file(home: Path, content: str) -> None:
    (home / "prefect-server.json").write_text(content)
    assert server.server_status() is None
    assert server.ensure_server(say=print)


def test_killed_server_is_replaced(home: Path) -> None:
    server.ensure_server(say=print)
    first = server.server_status()
    assert first is not None
    psutil.Process(first["pid"]).kill()
    psutil.Process(first["pid"]).wait(600)
    server.ensure_server(say=print)
    second = server.server_status()
    assert second is not None and second["pid"] != first["pid"]


def test_hung_server_is_replaced(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.ensure_server(say=print)
    first = server.server_status()
    assert first is not None
    psutil.Process(first["pid"]).suspend()
    patience, command = background.START_TIMEOUT_S, server._command

    def patiently(port: int) -> list[str]:
        monkeypatch.setattr(background, "START_TIMEOUT_S", patience)
        return command(port)

    # Short for the one that hangs, and not for the one that comes after it.
    monkeypatch.setattr(background, "START_TIMEOUT_S", 1.0)
    monkeypatch.setattr(background, "_HEALTH_TIMEOUT_S", 0.2)
    monkeypatch.setattr(server, "_command", patiently)
    messages: list[str] = []
    server.ensure_server(say=messages.append)
    second = server.server_status()
    assert second is not None and second["pid"] != first["pid"]
    assert any("already there" in line for line in messages)


def test_stubborn_server_is_killed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUBBORN", "1")
    server.ensure_server(say=print)
    status = server.server_status()
    assert status is not None
    assert server.stop_server() is True
    assert not psutil.pid_exists(status["pid"])


def test_server_that_ends_at_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKEN", "1")
    with pytest.raises(server.ServerError, match="no server today"):
        server.ensure_server(say=print)
    assert server.server_status() is None


def test_server_that_never_answers(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELAY", "60")
    monkeypatch.setattr(background, "START_TIMEOUT_S", 1.0)
    monkeypatch.setattr(background, "_PROGRESS_EVERY_S", 0.2)
    messages: list[str] = []
    with pytest.raises(server.ServerError, match="within 1 s"):
        server.ensure_server(say=messages.append)
    assert any("still starting" in line for line in messages)
    assert server.server_status() is None, "the half-started one is gone"


def test_two_processes_start_one_server(home: Path, tmp_path: Path) -> None:
    script = tmp_path / "start.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import sys
            from stackrank.flows.services import prefect_server as server
            server._command = lambda port: [sys.executable, "-c", {STAND_IN!r}, str(port)]
            print(server.ensure_server(say=lambda line: print(line, file=sys.stderr)))
            """
        )
    )
    environment = {**os.environ, "DELAY": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    starters = [
        subprocess.Popen([sys.executable, str(script)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    outputs = [starter.communicate(timeout=600) for starter in starters]
    assert all(starter.returncode == 0 for starter in starters), outputs
    assert len({out for out, _ in outputs}) == 1
    assert sum(err.count(b"starting the local") for _, err in outputs) == 1


def test_home_that_cannot_be_written(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("STACKRANK_HOME", str(home / "file" / "below"))
    with pytest.raises(NotReady, match="STACKRANK_HOME"):
        server.ensure_server(say=print)
    monkeypatch.setenv("STACKRANK_HOME", str(home))


def test_port_of_last_time_is_taken() -> None:
    with socket.socket() as blocker:
        blocker.bind(("127.0.0.1", 0))
        blocker.listen()
        port = blocker.getsockname()[1]
        assert background.choose_port(port) != port
    assert background.choose_port(None) > 1023


def test_two_homes_remember_one_port(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other's server takes the port just after this one chose it, and would answer for this one."""
    second_url = server.ensure_server(say=print)
    port = int(second_url.split(":")[2].split("/")[0])
    monkeypatch.setenv("STACKRANK_HOME", str(home / "second"))
    free, chosen_ports = background.choose_port, [port]
    monkeypatch.setattr(
        background, "choose_port", lambda preferred: chosen_ports.pop() if chosen_ports else free(preferred)
    )
    messages: list[str] = []
    try:
        url = server.ensure_server(say=messages.append)
        status = server.server_status()
        assert url != second_url and status and status["healthy"] and status["url"] == url
        assert len(messages) == 1
    finally:
        server.stop_server()
        monkeypatch.setenv("STACKRANK_HOME", str(home))
    assert server.ensure_server(say=print) == second_url


def test_a_port_that_is_held_for_a_moment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection of another program may have the port, which nobody listens on."""
    free = background.choose_port
    with socket.socket() as one, socket.socket() as another:
        for holder in (one, another):
            holder.bind(("127.0.0.1", 0))
        held = [holder.getsockname()[1] for holder in (one, another)]
        chosen_ports = [*held]
        monkeypatch.setattr(
            background, "choose_port", lambda preferred: chosen_ports.pop() if chosen_ports else free(preferred)
        )
        server.ensure_server(say=print)
        status = server.server_status()
    assert status and status["healthy"] and status["port"] not in held and not chosen_ports


def test_server_environment(home: Path) -> None:
    environ = {
        "PREFECT_API_URL": "http://elsewhere/api",
        "PREFECT_API_KEY": "secret",
        "PREFECT_API_AUTH_STRING": "of:another",
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": "*",
        "COVERAGE_PROCESS_CONFIG": "x",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events",
        "LANG": "C",
    }
    result = server._server_env(environ, 4321)
    dropped = {"PREFECT_API_URL", "PREFECT_API_KEY", "PREFECT_API_AUTH_STRING", "COVERAGE_PROCESS_CONFIG"}
    assert not dropped & set(result)
    assert result["PREFECT_SERVER_CORS_ALLOWED_ORIGINS"] == "http://127.0.0.1:4321"
    assert result["LANG"] == "C"
    assert result["DO_NOT_TRACK"] == "1"
    assert result["PREFECT_HOME"] == str(home / "prefect")
    assert result["PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED"] == "events", "what the user sets for servers holds"
    assert "flow_runs" in server._server_env({}, 4321)["PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED"]


def test_configured_server_is_used(home: Path, answering: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    url = answering(200, "application/json", b"true") + "/api"
    monkeypatch.setenv("PREFECT_API_URL", url)
    assert server.ensure_server(say=pytest.fail) == url
    assert server.server_status() is None
    assert "PREFECT_HOME" not in server.client_env(url), "a profile of the user's keeps its credentials"


def test_server_of_the_profile_is_used(home: Path, answering: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    url = answering(401, "application/json", b"{}") + "/api"
    profiles = home / "profiles.toml"
    profiles.write_text(f'active = "mine"\n[profiles.mine]\nPREFECT_API_URL = "{url}"\n[profiles.other]\n')
    monkeypatch.setenv("PREFECT_PROFILES_PATH", str(profiles))
    assert server.ensure_server(say=pytest.fail) == url, "it may want credentials that only prefect knows"
    monkeypatch.setenv("PREFECT_PROFILE", "other")
    assert server.ensure_server(say=print) != url


def test_configured_server_does_not_answer(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    with pytest.raises(server.ServerError, match=r"does not answer.*unset PREFECT_API_URL"):
        server.ensure_server(say=pytest.fail)


@pytest.mark.parametrize("answer", [(404, "application/json", b"{}"), (200, "text/html", b"<html>")])
def test_configured_address_is_no_api(
    home: Path, answering: Answer, monkeypatch: pytest.MonkeyPatch, answer: tuple[int, str, bytes]
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", answering(*answer))
    with pytest.raises(server.ServerError, match="not a Prefect API"):
        server.ensure_server(say=pytest.fail)
