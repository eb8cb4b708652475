"""The golden files of observations: each kind that each tool gives, in an episode with a real sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stackrank.agents.llm.syntaxes.text import FencedText
from stackrank.env.actions import Action
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.base import Backend
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Limits, Task
from stackrank.env.tools import ToolSet, find_tool, tool_set
from tests.fixtures.env import make_task
from tests.golden.prompts import MODEL_TOOLS, section

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": """
        from shop.tax import with_tax

        LIMIT = 3


        class Cart:
            def __init__(self):
                self.rows = []

            def add(self, name, price, count=1):
                if count < 1:
                    raise ValueError(f"count is {count}")
                self.rows.append((name, price * count))

            def total(self):
                result = 0
                for name, price in self.rows:
                    result += with_tax(price)
                return result
    """,
    "shop/tax.py": """
        RATES = {"food": 7, "other": 19}


        def with_tax(price, kind="other"):
            rate = RATES[kind]
            return price * rate // 100
    """,
    "tests/test_cart.py": """
        from shop.cart import Cart


        def filled(*prices):
            cart = Cart()
            for price in prices:
                cart.add("thing", price)
            return cart


        def test_total():
            assert filled(100, 200).total() == 357


        def test_empty():
            assert filled().total() == 0


        def test_many():
            assert filled(*range(0, 1000, 100)).total() == 855
    """,
    "report.py": """
        from shop.cart import Cart

        cart = Cart()
        cart.add("book", 100)
        print(cart.total())
        cart.add("none", 1, count=0)
    """,
}
Call = tuple[str, dict[str, Any]]
TEST = "tests/test_cart.py"
READING: Sequence[Call] = (
    ("listdir", {}),
    ("listdir", {"path": "lib"}),
    ("view", {"path": "shop/tax.py"}),
    ("view", {"path": "shop/cart.py", "start": 10, "end": 13}),
    ("view", {"path": TEST, "start": 90}),
    ("view", {"path": "shop"}),
    ("view", {"path": "shop/carts.py"}),
    ("view", {"path": "../secret"}),
    ("grep", {"pattern": "def \\w+\\("}),
    ("grep", {"pattern": "nothing"}),
    ("grep", {"pattern": "("}),
    ("eval", {}),
    ("eval", {"test": f"{TEST}::test_empty"}),
    ("eval", {"test": "tests/test_lost.py"}),
    ("bash", {"command": "wc -l shop/*.py"}),
    ("bash", {"command": "exit 3"}),
    ("bash", {"command": "sleep 30", "timeout_s": 0.5}),
    ("bash", {"command": "yes 'a line of forty characters, more or less' | head -200", "limit": 500}),
    ("view", {"path": "shop/tax.py", "start": 0}),
    ("view", {"pth": "shop/tax.py"}),
    ("peek", {}),
)  # fmt: skip
EDITING: Sequence[Call] = (
    ("rewrite", {"path": "shop/tax.py", "start": 6, "end": 6, "new_code": "    return price * (100 + rate) // 100\n"}),
    ("rewrite", {"path": "shop/tax.py", "start": 6, "end": 6, "new_code": "    return price * (100 + rate) // 100\n"}),
    ("rewrite", {"path": "shop/tax.py", "start": 5, "end": 5, "new_code": "    rate = RATES[kind\n"}),
    ("undo", {}),
    ("rewrite", {"path": "shop/tax.py", "start": 2, "end": 3, "new_code": ""}),
    ("rewrite", {"path": "shop/tax.py", "start": 90, "end": 91, "new_code": "x\n"}),
    ("rewrite", {"path": "shop/tax.py", "end": 3, "new_code": "x\n"}),
    ("rewrite", {"path": TEST, "start": 1, "new_code": "x\n"}),
    ("rewrite", {"path": "shop/new.py", "new_code": "x = 1\n"}),
    ("rewrite", {"path": "shop/new.py", "new_code": "x = 2\n"}),
    ("str_replace", {"path": "shop/cart.py", "old_str": "LIMIT = 3", "new_str": "LIMIT = 4"}),
    ("str_replace", {"path": "shop/cart.py", "old_str": "result", "new_str": "value"}),
    ("str_replace", {"path": "shop/cart.py", "old_str": "    result = 0\n    for", "new_str": "x"}),
    ("str_replace", {"path": "shop/cart.py", "old_str": "", "new_str": "x"}),
    ("insert", {"path": "shop/cart.py", "line": 2, "new_str": "# The most things.\n"}),
    ("insert", {"path": "shop/cart.py", "line": 99, "new_str": "x\n"}),
    ("create", {"path": "shop/cart.py", "content": "x\n"}),
    ("create", {"path": "shop/rates.py", "content": "RATES = {}\n"}),
    ("undo", {}),
    ("undo", {}),
    ("undo", {}),
    ("bash", {"command": "echo >> shop/new.py; echo '#' >> tests/test_cart.py"}),
    ("undo", {}),
    ("eval", {}),
)  # fmt: skip
DEBUGGING: Sequence[Call] = (
    ("pdb", {"command": "b shop.cart:Cart.total\nb shop/tax.py:6 if price > 150\nc\nself.rows\n"}),
    ("pdb", {"command": "c"}),
    ("pdb", {"command": "rate = 100 + rate\nfor step in (1, 2):\n    print(step, rate)\nprice * rate // 100"}),
    ("pdb", {"command": "b nowhere\nb shop/cart.py:4\nb shop/cart.py:14 if (\np missing"}),
    ("pdb", {"command": "cl\nc"}),
    ("pdb", {"command": "w"}),
    ("pdb", {"command": "c"}),
    ("pdb", {"command": "b with_tax\nc\np price", "test": "test_many"}),
    ("pdb", {"command": "cl\nc"}),
    ("pdb", {"command": "c", "test": "python report.py"}),
    ("pdb", {"command": "q"}),
    ("pdb", {"command": "c", "test": "test_lost"}),
    ("pdb", {"command": "c", "test": "make test"}),
    ("pdb", {"command": f"{TEST}::test_many"}),
    ("inspect", {"place": "cart:Cart.total", "code": "self.rows\nsum(price for _, price in self.rows)\nmissing\n"}),
    ("inspect", {"place": "with_tax", "condition": "price > 500", "hit": -1, "test": "test_many"}),
    ("inspect", {"code": "filled(100).total()\n"}),
    ("inspect", {"place": "with_tax", "hit": 9}),
    ("inspect", {"place": "with_taxes"}),
    ("inspect", {"place": "shop/cart.py:4"}),
    ("inspect", {"place": "with_tax", "code": "1 +"}),
    ("trace", {"place": "shop/cart.py:18, with_tax"}),
    ("trace", {"place": "with_tax", "code": "price, kind\nprice * 119 // 100\n", "hit": -2, "test": "test_many"}),
    ("trace", {"place": "with_tax", "condition": "price.real > 1 / price", "count": 2, "test": "test_many"}),
    ("trace", {"exception": "ValueError", "test": "report.py"}),
    ("trace", {"exception": "KeyError"}),
    ("trace", {"place": "Cart.add"}),
    ("trace", {}),
    ("calls", {"place": "Cart.add", "test": "report.py"}),
    ("calls", {"place": "with_tax", "test": "test_many"}),
    ("calls", {"place": "with_tax", "condition": "result > 100", "test": "test_many"}),
    ("calls", {"place": "Cart.add", "hit": -1}),
    ("calls", {"place": "with_tax", "hit": 12}),
    ("calls", {"place": "Cart"}),
    ("snapshot", {}),
    ("snapshot", {"show": "steps"}),
    ("snapshot", {"back": 3}),
    ("snapshot", {"show": "tree", "test": "test_total"}),
    ("snapshot", {"show": "difference"}),
    ("snapshot", {"test": "python report.py"}),
    ("snapshot", {"test": "test_empty"}),
    ("investigate", {"question": "Why is the total 57?\n"}),
    ("rewrite", {"path": "shop/tax.py", "new_code": ""}),
    ("answer", {"text": "with_tax returns the tax alone (shop/tax.py:6).\n"}),
    ("answer", {"text": "x"}),
)  # fmt: skip
TERMINAL: Sequence[Call] = (
    ("terminal", {"text": "echo hello\n"}),
    ("terminal", {"text": "read -p 'name? ' name\n"}),
    ("terminal", {"text": "Ada\n"}),
    ("terminal", {"text": "cat"}),
    ("terminal", {"key": "ctrl-c"}),
    ("terminal", {"text": "sleep 60", "timeout_s": 0.5}),
    ("terminal", {"restart": True}),
    ("terminal", {"text": "echo done", "pattern": "never"}),
    ("terminal", {"key": "hyper-x"}),
    ("terminal", {"pattern": "("}),
    ("terminal", {"text": "exit"}),
)  # fmt: skip
ENDING: Sequence[Call] = (
    ("pdb", {"command": "c"}),
    *((("rewrite", {"path": "shop/tax.py", "start": 6, "new_code": f"    return {n}\n"})) for n in range(5)),
    ("pdb", {"command": "p RATES"}),
    ("rewrite", {"path": "shop/tax.py", "start": 6, "new_code": "    return price * (100 + rate) // 100\n"}),
    ("submit", {}),
)  # fmt: skip


def shop(**options: Any) -> Task:
    """Return the task: totals are the taxes alone."""
    return make_task(FILES, statement="Totals of carts are too small.", limits=Limits(timeout_s=30), **options)


def play(backend: Backend, calls: Sequence[Call], tools: ToolSet | None = None, reset: bool = False) -> str:
    """Return the actions and observations of an episode, as text mode writes them."""
    tools = tools or ToolSet("all", tuple(MODEL_TOOLS))
    syntax = FencedText([find_tool(name) for name in MODEL_TOOLS])
    parts = []
    with DebugEnv(shop(), tools, lambda spec: Sandbox(backend, spec), rewards=False, end_when_solved=False) as env:
        first, _ = env.reset()
        if reset:
            parts.append(section("the first observation", first.text))
        for name, arguments in calls:
            observation = env.step(Action(name, arguments))[0]
            is_known = name in MODEL_TOOLS and "pth" not in arguments
            action = syntax.write(Action(name, arguments)) if is_known else f"{name} {arguments}"
            body = action.partition("\n")[2].rpartition("\n")[0] if is_known else action
            parts.append(section(name, f"{body}\n\n{syntax.write_result(None, observation)['content']}"))
    return "".join(parts)


def write_observations(backend: Backend) -> dict[str, str]:
    """Return name -> text of the files of observations."""
    return {
        "observations-reading.txt": play(backend, READING, reset=True),
        "observations-editing.txt": play(backend, EDITING),
        "observations-debugging.txt": play(backend, DEBUGGING),
        "observations-terminal.txt": play(backend, TERMINAL),
        "observations-locked-tool.txt": play(backend, ENDING, tool_set("debug5")),
    }
