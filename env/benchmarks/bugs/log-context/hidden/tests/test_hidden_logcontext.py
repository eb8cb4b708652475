# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import threading

from logcontext import Context, Log
from logcontext.crew import Crew


def in_thread(action):
    result = []
    thread = threading.Thread(target=lambda: result.append(action()))
    thread.start()
    thread.join()
    return result[0] if result else None


def test_thread_begins_without_tags():
    context = Context()
    with context.tagged(user="ann"):
        assert in_thread(context.tags) == {}
        assert context.tags() == {"user": "ann"}


def test_tags_of_threads_do_not_mix():
    context = Context()
    barrier = threading.Barrier(2, timeout=10)

    def work(name):
        def run():
            with context.tagged(job=name):
                barrier.wait()
                tags = context.tags()
                barrier.wait()
            return tags, context.tags()
        return run

    found = {}
    threads = [threading.Thread(target=lambda n=n: found.__setitem__(n, work(n)())) for n in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"a": ({"job": "a"}, {}), "b": ({"job": "b"}, {})}


def test_failing_job():
    context = Context()
    log = Log(context)
    results = Crew(context, log).run({"bad": lambda: 1 / 0, "good": lambda: context.tags()})
    assert isinstance(results["bad"], ZeroDivisionError)
    assert results["good"] == {"job": "good"}
    assert context.tags() == {}


def test_two_contexts():
    first, second = Context(), Context()
    with first.tagged(a="1"):
        assert second.tags() == {}
        assert in_thread(second.tags) == {}


def test_context_made_in_a_thread():
    context = in_thread(Context)
    assert context.tags() == {}
    with context.tagged(x="1"):
        assert context.tags() == {"x": "1"}
