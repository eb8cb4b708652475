"""Tasks with hidden tests, and proofs of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stackrank.env.patches import make_diff
from stackrank.env.sandbox.base import spec_for
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.scoring.literals import Edit
from stackrank.env.scoring.proof import Contradiction, Proof
from stackrank.env.scoring.prove import prove
from stackrank.env.task import Task
from tests.fixtures.env import cart, source, usable


def with_fix(tests: str, **options: Any) -> Task:
    """The shop of `cart` with its fix, and these hidden tests."""
    task = cart(hidden_files={"tests/test_hidden.py": source(tests)}, **options)
    fixed = task.files["cart.py"].replace(b" - 1", b"")
    return replace(task, fix=make_diff({"cart.py": task.files["cart.py"]}, {"cart.py": fixed}))


def proof_of(task: Task) -> Proof:
    """The proof of a task, made in bubblewrap."""
    with Sandbox(usable("bubblewrap"), spec_for(task, warm=False)) as sandbox:
        return prove(task, sandbox)


def unit(name: str, *, telling: bool = False, path: str = "h.py", count: int = 2) -> list[Contradiction]:
    """The contradictions of one test."""
    return [
        Contradiction(name, {f"{path}::{name}": f"{path}::{name}"}, path, 1, Edit(n, n + 1, "x"), "y", telling)
        for n in range(count)
    ]
