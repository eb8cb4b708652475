# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio
import itertools

from tracing import Tracer, tree


async def request(tracer, name, pauses):
    with tracer.span(f"request {name}"):
        await pauses()
        with tracer.span(f"query {name}"):
            await pauses()
        with tracer.span(f"render {name}"):
            await pauses()


async def short():
    await asyncio.sleep(0)


def expected(name):
    return [f"request {name}", f"  query {name}", f"  render {name}"]


def test_nested_spans():
    tracer = Tracer(itertools.count().__next__)
    with tracer.span("a") as a:
        with tracer.span("b") as b:
            pass
    assert tree(tracer.ended) == ["a", "  b"]
    assert (b.seconds, a.seconds) == (1, 3)


def test_one_request_after_the_other():
    async def main():
        tracer = Tracer()
        await request(tracer, "x", short)
        await request(tracer, "y", short)
        assert tree(tracer.ended) == expected("x") + expected("y")

    asyncio.run(main())


def test_two_requests_side_by_side():
    async def main():
        tracer = Tracer()
        await asyncio.gather(request(tracer, "x", short), request(tracer, "y", short))
        assert tree(tracer.ended) == expected("x") + expected("y")

    asyncio.run(main())


def test_span_ends_with_an_exception():
    tracer = Tracer()
    try:
        with tracer.span("a"):
            raise ValueError
    except ValueError:
        pass
    with tracer.span("b"):
        pass
    assert tree(tracer.ended) == ["a", "b"]
