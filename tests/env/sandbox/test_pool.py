"""The pool of sandboxes started ahead."""

from __future__ import annotations

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from stackrank.env.sandbox import pool as pool_module
from stackrank.env.sandbox.base import Backend, SandboxError, SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.pool import Pool
from stackrank.env.task import Limits
from tests.support.waiting import wait_for

SPEC = SandboxSpec(limits=Limits(timeout_s=60, memory_mb=512))


def test_take_gives_what_was_started_ahead_and_never_one_twice(sandbox_backend: Backend) -> None:
    with Pool(sandbox_backend, size=2) as pool:
        pool.expect(SPEC)
        wait_for(lambda: pool.waiting() == 2, "the pool")
        ahead = {sandbox.name for sandbox in pool._ready[SPEC]}
        with pool.take(SPEC) as first, pool.take(SPEC) as second:
            first.put({"a": b"1"})
            second.put({})
            assert second.listing().entries == ()
            assert {first.name, second.name} == ahead
        wait_for(lambda: pool.waiting() == 2, "the pool")
        with pool.take(SPEC) as third:
            assert third.name not in ahead
            third.put({})
            assert third.listing().entries == ()


def test_one_that_died_is_not_handed_out(sandbox_backend: Backend) -> None:
    with Pool(sandbox_backend, size=1) as pool:
        pool.expect(SPEC)
        wait_for(lambda: pool.waiting() == 1, "the pool")
        pool._ready[SPEC][0].close()
        with pool.take(SPEC) as sandbox:
            sandbox.ping()


def test_close_ends_what_waits_and_not_what_was_taken(sandbox_backend: Backend) -> None:
    pool = Pool(sandbox_backend, size=1)
    pool.expect(SPEC)
    wait_for(lambda: pool.waiting() == 1, "the pool")
    waiting = pool._ready[SPEC][0]
    with Sandbox(sandbox_backend, SPEC) as sandbox:
        pool.close()
        pool.close()
        sandbox.ping()
        with pytest.raises(SandboxError):
            waiting.ping()
        with pytest.raises(SandboxError, match="closed"):
            pool.take(SPEC)


class Fake:
    """Stands for a Sandbox; the pool's own bookkeeping is what is tested below."""

    alive = 0
    peak = 0
    numbers = itertools.count()
    lock = threading.Lock()
    broken: bool = False

    def __init__(self, backend: Any, spec: SandboxSpec) -> None:
        if Fake.broken:
            raise SandboxError("no")
        self.spec = spec
        self.number = next(Fake.numbers)
        with Fake.lock:
            Fake.alive += 1
            Fake.peak = max(Fake.peak, Fake.alive)
        time.sleep(0.002)

    def prepare(self) -> None:
        pass

    ping = prepare

    def close(self) -> None:
        with Fake.lock:
            Fake.alive -= 1


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[Fake]:
    monkeypatch.setattr(pool_module, "Sandbox", Fake)
    Fake.alive = Fake.peak = 0
    Fake.broken = False
    return Fake


def spec(memory_mb: int) -> SandboxSpec:
    return SandboxSpec(limits=Limits(memory_mb=memory_mb))


def test_many_threads_and_kinds(fake: type[Fake]) -> None:
    kinds = [spec(100), spec(200), spec(300)]
    with Pool(None, size=3, memory_mb=600) as pool, ThreadPoolExecutor(8) as threads:  # type: ignore[arg-type]

        def use(index: int) -> int:
            sandbox: Any = pool.take(kinds[index % 3])
            assert sandbox.spec == kinds[index % 3]
            sandbox.close()
            return int(sandbox.number)

        numbers = list(threads.map(use, range(300)))
        assert len(set(numbers)) == 300
        assert pool.waiting() <= 3
    assert fake.alive == 0
    assert fake.peak <= 3 + 8 + 1


def test_memory_is_bounded(fake: type[Fake]) -> None:
    with Pool(None, size=8, memory_mb=1000) as pool:  # type: ignore[arg-type]
        pool.expect(spec(400))
        wait_for(lambda: pool.waiting() == 2, "the pool")
        time.sleep(0.05)
        assert pool.waiting() == 2
        # What was asked for last takes the place of what was not.
        pool.expect(spec(900))
        wait_for(lambda: [len(line) for line in pool._ready.values()] == [0, 1], "the pool")
    assert fake.alive == 0


def test_failure_is_seen_by_who_asks(fake: type[Fake]) -> None:
    with Pool(None, size=2) as pool:  # type: ignore[arg-type]
        fake.broken = True
        pool.expect(SPEC)
        wait_for(lambda: SPEC in pool._failed, "the pool")
        with pytest.raises(SandboxError, match="no"):
            pool.take(SPEC)
        fake.broken = False
        assert pool.take(SPEC)


def test_size_zero_starts_nothing_ahead(fake: type[Fake]) -> None:
    with Pool(None, size=0) as pool:  # type: ignore[arg-type]
        pool.take(SPEC).close()
        time.sleep(0.02)
        assert (pool.waiting(), fake.alive) == (0, 0)


def test_what_is_taken_in_turn_is_started_once_for_each_who_takes_it(fake: type[Fake]) -> None:
    kinds = [spec(100), spec(200)]
    first = next(Fake.numbers)
    with Pool(None, size=2) as pool:  # type: ignore[arg-type]
        for _ in range(10):
            for kind in kinds:
                pool.take(kind).close()
        wait_for(lambda: pool.waiting() == 2, "the pool")
        assert [len(pool._ready[kind]) for kind in kinds] == [1, 1]
    assert next(Fake.numbers) - first - 1 == 20 + 2


def test_what_was_asked_for_once_is_not_started_ahead(fake: type[Fake]) -> None:
    first = next(Fake.numbers)
    with Pool(None, size=2) as pool:  # type: ignore[arg-type]
        for memory_mb in range(100, 110):
            pool.take(spec(memory_mb)).close()
        pool.take(spec(100)).close()
        # The thread that starts them goes in turn, so what it has not begun by then it did not mean to.
        wait_for(lambda: pool.waiting() == 1, "the pool")
        assert len(pool._ready[spec(100)]) == 1
    assert next(Fake.numbers) - first - 1 == 11 + 1
