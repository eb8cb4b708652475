"""What is read from the wording of debuggers that an agent runs in a shell."""

from __future__ import annotations

import pytest

from stackrank.env.terminal.debuggers import read_debuggers

FILES = ("src/parse.c", "app.js", "shop/cart.py", "tests/cart.py", "main.go")


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ("> /w/shop/cart.py(5)Cart.total()", ("paused", "shop/cart.py", 5, "Cart.total")),
        ("(Pdb) > /workspace/shop/cart.py(5)<module>()->None", ("paused", "shop/cart.py", 5, "<module>")),
        ("(Pdb) Breakpoint 1 at /w/shop/cart.py:5", ("watched", "shop/cart.py", 5, "")),
        ("(gdb) Breakpoint 1 at 0x1134: file src/parse.c, line 3.", ("watched", "src/parse.c", 3, "")),
        ("Temporary breakpoint 2 at 0x1144: file parse.c, line 5.", ("watched", "src/parse.c", 5, "")),
        ("Breakpoint 1, total (p=0x7ffe6b4, n=3) at src/parse.c:3", ("paused", "src/parse.c", 3, "total")),
        ('Thread 2 "a b" hit Breakpoint 1, work () at /w/src/parse.c:3', ("paused", "src/parse.c", 3, "work")),
        ("#1  0x000055555555519c in main () at src/parse.c:10", ("paused", "src/parse.c", 10, "main")),
        ("0x000055555555519c in ns::total (this=0x0) at src/parse.c:10", ("paused", "src/parse.c", 10, "ns::total")),
        (
            "Breakpoint 1: where = parse`total + 11 at parse.c:3:9, address = 0x0000000000001134",
            ("watched", "src/parse.c", 3, ""),
        ),
        ("  * frame #0: 0x0000555 parse`total(p=0x7ff, n=3) at parse.c:3:9", ("paused", "src/parse.c", 3, "total")),
        ("debug> Break on start in app.js:6", ("paused", "app.js", 6, "")),
        ("break in app.js:3", ("paused", "app.js", 3, "")),
        ("Breakpoint 1 set at 0x4a9f for main.total() ./main.go:12", ("watched", "main.go", 12, "main.total")),
        (
            "> main.total() ./main.go:12 (hits goroutine(1):1 total:1) (PC: 0x4a9f)",
            ("paused", "main.go", 12, "main.total"),
        ),
        ("> /usr/lib/python3.11/bdb.py(600)run()", None),
        ("> cart.py(5)total()", None),  # two files are called so
        ("see Breakpoint 1 at /w/shop/cart.py:5", None),
        ("1: shop/cart.py:5: return", None),
    ],
)
def test_each_debugger_is_understood(line: str, event: tuple[str, str, int, str] | None) -> None:
    read = [(e["event"], e["file"], e["line"], e.get("function", "")) for e in read_debuggers(line, FILES, "/w")]
    assert read == ([event] if event else [])


def test_a_fatal_signal_is_a_failure_where_the_program_stands() -> None:
    text = (
        "Program received signal SIGSEGV, Segmentation fault.\n0x1ab in main () at src/parse.c:12\n#0 x () at parse.c:3"
    )
    assert [event["event"] for event in read_debuggers(text, FILES, "/w")] == ["failed", "paused"]
    interrupted = text.replace("SIGSEGV, Segmentation fault", "SIGINT, Interrupt")
    assert [event["event"] for event in read_debuggers(interrupted, FILES, "/w")] == ["paused", "paused"]
