"""The time limit of a verdict holds for programs that seem to wait for a processor because they crowd it themselves."""

from __future__ import annotations

import pytest

from stackrank.env.sandbox.base import Backend, spec_for
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.verdict import score, score_in
from stackrank.env.task import Limits
from tests.fixtures.env import CART, cart, source

pytestmark = pytest.mark.slow

LIMITS = Limits(timeout_s=3, cpus=1)
MENDED = source(CART.replace("result - 1", "result"))
BOMB = source("""
    import os, signal, time

    # Children that nobody waits for leave no account of their time.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        try:
            if os.fork() == 0:
                end = time.monotonic() + 0.3
                while time.monotonic() < end:
                    pass
                os._exit(0)
        except OSError:
            pass
""")


def test_a_fork_bomb_gets_no_more_processor_time_than_its_limit(sandbox_backend: Backend) -> None:
    used: list[float] = []

    class Measured(Sandbox):
        def halt(self) -> None:
            used.append(self.used_s())
            super().halt()

    outcome = score(cart(limits=LIMITS), Changes(files={"cart.py": BOMB}), lambda spec: Measured(sandbox_backend, spec))
    assert outcome.timed_out and not outcome.resolved
    if not any(used):
        pytest.skip("this machine does not say how much processor time a sandbox used")
    # Less than what the guest alone would grant: eight times the limit. The sandbox is looked at every two seconds.
    assert max(used) < 3 * LIMITS.timeout_s


def test_a_sandbox_that_the_limit_halted_judges_again(sandbox_backend: Backend) -> None:
    task = cart(limits=LIMITS)
    with Sandbox(sandbox_backend, spec_for(task, warm=False)) as sandbox:
        if not sandbox.used_s():
            pytest.skip("this machine does not say how much processor time a sandbox used")
        assert score_in(sandbox, task, Changes(files={"cart.py": BOMB})).timed_out
        for _ in range(2):
            assert score_in(sandbox, task, Changes(files={"cart.py": MENDED}), fresh=True).resolved
