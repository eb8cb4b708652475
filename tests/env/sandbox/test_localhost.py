"""The names of machines that bubblewrap sandboxes know."""

from __future__ import annotations

import pytest

from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.bubblewrap.backend import BubblewrapBackend
from stackrank.env.sandbox.bubblewrap.memory import Memory
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Limits
from tests.fixtures.env import usable

SPEC = SandboxSpec(limits=Limits(timeout_s=60, memory_mb=512))
SERVE = """
import socket
with socket.create_server(("localhost", 0)) as server:
    with socket.create_connection(("localhost", server.getsockname()[1]), 5) as client:
        print(client.getpeername()[0])
"""


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize(
    ("code", "shown"),
    [
        (SERVE, "127.0.0.1\n"),
        ("import socket\nprint(socket.gethostbyname('localhost'))", "127.0.0.1\n"),
        ("import socket\nsocket.getaddrinfo('example.org', 80)", "gaierror"),
        ("print(open('/etc/hosts').read())", "127.0.0.1 localhost\n\n"),
    ],
)
def test_a_sandbox_knows_localhost_and_no_other_machine(code: str, shown: str, in_memory: bool) -> None:
    usable("bubblewrap")
    backend = BubblewrapBackend()
    if not in_memory:
        backend.memory = Memory(places=())
    with Sandbox(backend, SPEC) as sandbox:
        sandbox.put({"names.py": code.encode()})
        assert shown in sandbox.run("python names.py", 20).output
