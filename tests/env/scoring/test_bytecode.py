"""Compiled forms of a task's modules, which test runs import in place of compiling the source."""

from __future__ import annotations

from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.scoring.bytecode import compiled
from stackrank.patches.contents import Link
from tests.fixtures.env import usable

WARNS = b"pattern = '\\d'\n"
FILES: dict[str, bytes] = {"shop/prices.py": b"PRICE = 11\n", "shop/broken.py": b"def\n", "shop/old.py": WARNS}


def test_only_modules_that_nobody_changed_have_one() -> None:
    given = {**FILES, "tests/test_prices.py": b"x = 1\n", "shop/data.txt": b"x = 1\n", "a.py": Link(b"shop/prices.py")}
    (place,) = compiled(given, given)
    assert place.startswith("shop/__pycache__/prices.") and place.endswith(".pyc")
    assert compiled({**given, "shop/prices.py": b"PRICE = 12\n", "shop/new.py": b"x = 1\n"}, given) == {}


def test_python_uses_it_for_exactly_this_source() -> None:
    command = (
        "python -v -c 'from shop.prices import PRICE; print(PRICE)' 2>&1 | grep -e ^1 -e 'code object from.*prices'"
    )
    with Sandbox(usable("bubblewrap"), SandboxSpec()) as sandbox:
        sandbox.put({**FILES, **compiled(FILES, FILES)})
        assert sandbox.run(command, 20).output.split("'")[1:] == [
            f"/workspace/{next(iter(compiled(FILES, FILES)))}", "\n11\n"
        ]  # fmt: skip
        # Of the same size and with the same times, as an edit may be.
        sandbox.put({**FILES, "shop/prices.py": b"PRICE = 12\n", **compiled(FILES, FILES)})
        assert sandbox.run(command, 20).output == "# code object from /workspace/shop/prices.py\n12\n"
        assert sandbox.run("python -W error -c 'import shop.old' 2>&1", 20).exit != 0
