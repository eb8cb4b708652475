"""A tool set whose debugger becomes available later."""

from __future__ import annotations

from stackrank.env.actions import Action
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.tools import tool_set
from tests.fixtures.env import cart, usable


def test_pdb_comes_after_the_fifth_rewrite() -> None:
    kind = usable("bubblewrap")
    with DebugEnv(cart(), tool_set("debug5"), lambda spec: Sandbox(kind, spec)) as env:
        env.reset()

        def do(tool: str, **arguments: object) -> tuple[bool, str]:
            observation = env.step(Action(tool, arguments))[0]
            return observation.ok, observation.text

        for remaining in (5, 4, 3, 2, 1):
            message = f"pdb becomes available after {remaining} more rewrite{'s' if remaining > 1 else ''}."
            assert do("pdb", command="p 6 * 7") == (False, message)
            assert do("rewrite", path="tests/test_cart.py", new_code="")[0] is False, "a refused one does not count"
            assert do("eval")[0] and do("view", path="cart.py")[0], "nor do other tools"
            assert do("rewrite", path="cart.py", start=1, new_code=f"def total(items):  # {remaining}")[0]
        ok, message = do("pdb", command="p 6 * 7")
        assert ok and "42" in message
        env.reset()
        assert do("pdb", command="c") == (False, "pdb becomes available after 5 more rewrites.")
