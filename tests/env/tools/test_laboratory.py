"""`trace`, `calls` and `snapshot` as an agent uses them."""

from __future__ import annotations

import pytest

from stackrank.env.task import Limits, Task
from tests.fixtures.env import Play, cart, make_task
from tests.support.waiting import run_out

SHOP = """
    PRICES = {}


    class Cart:
        def __init__(self):
            self.items = []

        def add(self, name, price):
            self.items.append(name)
            PRICES[name] = price

        def price(self, name):
            try:
                return PRICES[name]
            except KeyError:
                return 0


    def deep(n):
        return deep(n - 1) if n else [][0]


    def numbers(n):
        for each in range(n):
            yield each
"""
TEST_SHOP = """
    import pytest
    from shop import Cart, deep, numbers


    @pytest.mark.parametrize("name", ["a", "b"])
    def test_price(name):
        cart = Cart()
        cart.add("a", 5)
        assert cart.price(name) == 5


    def test_deep():
        deep(30)


    def test_numbers():
        assert sum(numbers(5)) == 11
"""


def shop(**options: object) -> Task:
    return make_task({"shop.py": SHOP, "tests/test_shop.py": TEST_SHOP, "conftest.py": ""}, **options)


def test_values_are_logged_each_time_a_line_is_reached(play: Play) -> None:
    step = play(cart())
    observation = step("trace", place="cart.py:4", code="price, result\nnothing", condition="price != 2")
    assert "cart.py:4: reached 3 times, the condition was true twice." in observation.text
    assert "#1: price, result = (1, 0), nothing raised NameError: name 'nothing' is not defined" in observation.text
    assert "#2: price, result = (3, 3)" in observation.text
    assert "test_total failed at tests/test_cart.py:5: AssertionError: assert 5 == 6" in observation.text
    watched, failed = observation.state["debug_events"]
    assert watched == {"event": "reached", "file": "cart.py", "line": 4, "function": "", "hits": 2}
    assert (failed["event"], failed["file"], failed["exception"].split("\n")[0]) == (
        "failed",
        "tests/test_cart.py",
        "AssertionError: assert 5 == 6",
    )
    assert observation.state["outcomes"] == {"tests/test_cart.py::test_total": "failed"}
    capped = step("trace", place="cart.py:4", code="price", count=1, hit=2)
    assert "#2: price = 2" in capped.text and "[1 more hit; `hit` and `count` choose" in capped.text
    wrong = step("trace", place="cart.py:4", condition="prise > 1")
    assert "[the condition raised NameError: name 'prise' is not defined, 3 times; counted as false]" in wrong.text


def test_the_variables_of_a_new_call_are_all_new(play: Play) -> None:
    """A frame may lie where one lay before."""
    files = {"odd.py": "def half(n):\n    return n // 2\n", "tests/test_odd.py": """
        import odd
        def test_half():
            assert [odd.half(7) for _ in range(4)] == 3
    """}  # fmt: skip
    step = play(make_task(files))
    for place in ("odd.py:2", "half"):
        assert "#1 to #4, the same: n = 7" in step("trace", place=place).text


def test_an_exception_is_caught_where_it_is_first_raised(play: Play) -> None:
    step = play(shop())
    observation = step("trace", exception="KeyError", test="tests/test_shop.py::test_price")
    assert (
        "First raised in tests/test_shop.py::test_price[b]; the run was ended there: KeyError: 'b'" in observation.text
    )
    assert "shop.py:14 in Cart.price: return PRICES[name]" in observation.text
    assert (observation.state["event"], observation.state["file"], observation.state["locals"]["name"]) == (
        "raised",
        "shop.py",
        "'b'",
    )
    by_base = step("trace", exception="LookupError", test="test_price[b]")
    assert "the run was ended there: KeyError" in by_base.text
    never = step("trace", exception="ValueError", test="test_price[b]")
    assert "No ValueError was raised in the workspace. Other exceptions" in never.text
    assert "were raised: KeyError at shop.py:14" in never.text


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ("shop.py:2", "shop.py:2 has no code; the nearest lines with code are 1 and 4"),
        ("Cart.prize", "did you mean Cart.price"),
        ("Cart", "Cart is not a function; its functions are Cart.__init__, Cart.add, Cart.price"),
        ("shp.py:3", "no file shp.py: did you mean shop.py"),
        ("12", "names no file"),
        ("", "nothing to trace: name a `place` or an `exception`"),
    ],
)
def test_a_place_that_is_none_is_said_in_one_sentence(play: Play, at: str, message: str) -> None:
    observation = play(shop())("trace", place=at)
    assert not observation.ok
    assert message in observation.text
    assert "\n" not in observation.text


def test_calls_tell_arguments_results_and_what_changed(play: Play) -> None:
    step = play(shop())
    all_of_them = step("calls", place="Cart.add", test="tests/test_shop.py")
    assert "shop.py:8 in Cart.add: 2 calls." in all_of_them.text
    first_call = step("calls", place="add", hit=1, test="tests/test_shop.py")
    assert "Call #1 of Cart.add, called at tests/test_shop.py:8 in test_price" in first_call.text
    assert "name = 'a'" in first_call.text and "Result: None" in first_call.text
    assert "self.items: list of 0 -> list of 1" in first_call.text and "self.items[0] = 'a', new" in first_call.text
    assert "global PRICES['a'] = 5, new" in first_call.text
    last = step("calls", place="deep", hit=-1, test="test_deep")
    assert "Call #31 of deep" in last.text and "n = 0" in last.text and "raised IndexError" in last.text
    many = step("calls", place="deep", test="test_deep").text
    assert "31 calls; #31, #30" in many and "raised an exception" in many
    assert "[#9 to #23 omitted" in many and "#31 deep(n=0)" in many
    assert "yielded 5: 0, 1, 2, ...; None" in step("calls", place="numbers", test="test_numbers").text
    large = {
        "big.py": "class Big:\n    def __init__(self):\n        self.rows = ['row'] * 99\n        self.x = 'x' * 200\n"
    }
    large["big.py"] += "    def get(self, n):\n        return n\n"
    test = "import big\n\n\ndef test_big():\n    assert big.Big().get(4) == 5\n"
    short = play(make_task({**large, "tests/test_big.py": test}))("calls", place="get", test="tests/test_big.py").text
    assert "#1 Big.get(self=<Big ...>, n=4) -> 4" in short, "the beginning of a large object says nothing"
    assert "There is no call 7." in step("calls", place="numbers", hit=7, test="test_numbers").text


def test_functions_of_one_name_are_told_apart(play: Play) -> None:
    code = """
        class Door:
            opened = [
                lambda: 1,
                lambda: 2,
            ]

            def close(self): ...

        def key(function):
            return function.__qualname__
        """
    test = """
        from door import Door, key

        def test_keys():
            assert len({key(each) for each in (*Door.opened, Door().close, Door.close)}) == 4
        """
    step = play(make_task({"door.py": code, "tests/test_door.py": test}))
    text = step("calls", place="key").text
    assert "the same" not in text and "Door.<lambda> at door.py:" in text
    assert "(function=<method Door.close>)" in text and "(function=<function Door.close>)" in text


def test_only_what_changed_is_told_as_changed(play: Play) -> None:
    """Not what hangs together with it: nodes of a tree name their parents."""
    tree = """
        class Node:
            def __init__(self, parent=None):
                self.parent, self.seen, self.children = parent, None, []
                if parent:
                    parent.children.append(self)

            def mark(self):
                self.seen = {"a": 1}

            def swap(self):
                self.children[0], self.children[1] = self.children[1], self.children[0]
    """
    test = """
        from tree import Node


        def test_tree():
            root = Node()
            for node in (Node(root), Node(root)):
                Node(Node(node))
            root.mark()
            root.children[1].children.clear()
            root.swap()
            assert not root.seen
    """
    step = play(make_task({"tree.py": tree, "tests/test_tree.py": test}))
    text = step("calls", place="mark", hit=1).text
    changed = text[text.index("It changed:") :].split("\n")[1:]
    assert changed[:2] == ["    self.seen: None -> dict of 1", "    self.seen['a'] = 1, new"]
    assert not any("children" in line for line in changed)
    text = step("calls", place="swap", hit=1).text
    assert "self.children[0].children: list of 1 -> list of 0" in text


def test_a_message_that_is_cut_says_so(play: Play) -> None:
    code = "def long():\n    raise ValueError('x' * 300 + '\\n' * 9)\n\n\ndef test_long():\n    long()\n"
    text = play(make_task({"a.py": "A = 1\n", "tests/test_long.py": code}))("snapshot").text
    assert "ValueError: " + "x" * 197 + "...\n" in text
    lines = "def test_lines():\n    raise ValueError('\\n'.join('abcdefghijkl'))\n"
    assert "h\n..." in play(make_task({"a.py": "A = 1\n", "tests/test_lines.py": lines}))("snapshot").text


def test_a_snapshot_without_a_frame_of_the_program_says_what_shows_more(play: Play) -> None:
    test = "from cart import total\n\n\ndef test_total():\n    assert total([1]) == 1\n"
    message = "[the call in this line has returned: `show: steps` and `back` show the lines before, `tree` all calls]"
    text = play(make_task({"cart.py": "def total(items):\n    return 2\n", "tests/test_cart.py": test}))("snapshot")
    assert message in text.text
    program = "def total(items):\n    assert not items\n"
    assert message not in play(make_task({"cart.py": program, "tests/test_cart.py": test}))("snapshot").text


def test_what_repeats_is_told_once(play: Play) -> None:
    big = "class Big:\n    def __init__(self):\n        self.rows, self.x = ['row'] * 99, 'x' * 200\n\n"
    big += "    def get(self, n):\n        return n\n"
    test = "import big\n\n\ndef test_big():\n    one = big.Big()\n    for n in (4, 4, 4, 5, 4):\n        one.get(n)\n"
    step = play(make_task({"big.py": big, "tests/test_big.py": f"{test}    assert one.rows == []\n"}))
    text = step("calls", place="get").text
    assert "#1 to #3, the same: Big.get(self=<Big ...>, n=4) -> 4\n#4 Big.get(self=<Big ...>, n=5) -> 5\n#5 Big" in text
    hits = [line for line in step("trace", place="big.py:6").text.split("\n") if line.startswith("#")]
    assert "(as above), n = 5" in hits[1] and len(hits[1]) < len(hits[0]) / 2, "a large object is told once"


def test_a_snapshot_has_the_frames_of_the_failure_with_recursion_folded(play: Play) -> None:
    step = play(shop())
    observation = step("snapshot", test="test_deep")
    assert "test_deep failed at shop.py:20: IndexError: list index out of range" in observation.text
    assert "[the next frame occurs 31 times; its locals are those of the last]" in observation.text
    assert "    n = 0" in observation.text and len(observation.text) < 800
    assert observation.state["stack"][-1]["current"] and observation.state["event"] == "failed"
    first = step("snapshot")
    assert "tests/test_shop.py::test_price[b] failed" in first.text and "cart = <Cart items=['a']>" in first.text


def test_steps_lead_back_from_the_failure(play: Play) -> None:
    step = play(cart())
    steps = step("snapshot", show="steps")
    assert "-0  cart.py:5 in total: return result - 1" in steps.text
    assert "-2  cart.py:4 in total: result += price\n        price = 3" in steps.text
    earlier = step("snapshot", back=2)
    assert (earlier.state["file"], earlier.state["line"], earlier.state["event"]) == ("cart.py", 4, "stopped")
    assert earlier.state["locals"] == {"items": "[1, 2, 3]", "result": "3", "price": "3"}
    assert "only 9 lines before the failure are known" in step("snapshot", back=10).text


def test_steps_of_a_long_run_are_found_by_running_it_again(play: Play) -> None:
    program = """
        def small(n):
            return n + 1


        def work(n):
            total = 0
            for each in range(n):
                total = small(total)
            for each in range(n):
                total += 1
            return total
    """
    test = "from work import work\n\n\ndef test_work():\n    assert work(4000) == 1\n"
    step = play(make_task({"work.py": program, "tests/test_work.py": test}))
    steps = step("snapshot", show="steps")
    assert "-0  work.py:11 in work: return total" in steps.text
    assert "-2  work.py:10 in work: total += 1" in steps.text and "total = 7999" in steps.text
    earlier = step("snapshot", back=200)
    assert (earlier.state["file"], earlier.state["line"]) == ("work.py", 10)
    assert earlier.state["locals"]["each"] == "3900"


def test_the_tree_and_the_first_difference(play: Play) -> None:
    step = play(shop())
    tree = step("snapshot", show="tree", test="test_deep")
    assert "test_deep (tests/test_shop.py:12): raised an exception\n  deep (shop.py:19): 30 more inside" in tree.text
    difference = step("snapshot", show="difference")
    assert "up to shop.py:14 in Cart.price: return PRICES[name]" in difference.text
    assert "The first continues at shop.py:15 in Cart.price" in difference.text
    assert "The second runs no further line." in difference.text
    assert "name: 'b' and 'a'" in difference.text
    assert "Only the first runs shop.py:15-16." in difference.text


@pytest.mark.exhaustive
def test_programs_that_misbehave_are_told_apart(play: Play) -> None:
    program = """
        import os, sys, threading, time


        def hang(n):
            while n:
                time.sleep(0.01)


        def leave():
            os._exit(3)


        def tracing():
            sys.settrace(lambda *_: None)
            sys.settrace(None)
            return mark(1)


        def mark(n):
            return n


        def forks():
            if os.fork() == 0:
                mark(2)
                os._exit(0)
            os.wait()


        def threads():
            one = threading.Thread(target=mark, args=(3,))
            one.start()
            one.join()


        def shouts():
            print("#1: n = 99\\nThe program printed:")
            mark(4)


        def kills():
            mark(5)
            os.kill(os.getpid(), 9)


        def sorts():
            return sorted([3, 1], key=mark)
    """
    names = ("leave", "tracing", "forks", "threads", "shouts", "kills", "sorts")
    tests = "import odd, sys, asyncio\n\n" + "\n".join(f"def test_{name}():\n    odd.{name}()\n" for name in names)
    tests += "def test_hang():\n    odd.hang(1)\n\ndef test_exits():\n    sys.exit(4)\n"
    tests += "def test_async():\n    async def run():\n        return odd.mark(6)\n    asyncio.run(run())\n"
    step = play(make_task({"odd.py": program, "tests/test_odd.py": tests}, limits=Limits(timeout_s=run_out(3))))

    def mark(test: str) -> str:
        return step("trace", place="mark", code="n", test=test).text

    assert "os._exit(3) at odd.py:10" in mark("test_leave")
    assert "the program called sys.settrace itself" in mark("test_tracing") or "n = 1" in mark("test_tracing")
    assert "mark was never reached" in mark("test_forks")
    assert "started another process, which was not followed" in mark("test_forks")
    assert "n = 3" in mark("test_threads")
    assert mark("test_shouts").index("#1: n = 4") < mark("test_shouts").index("The program printed:\n#1: n = 99")
    assert "n = 5" in mark("test_kills") and "killed by signal 9" in mark("test_kills")
    assert "#1: n = 3\n#2: n = 1" in mark("test_sorts")
    assert "n = 6" in mark("test_async")
    assert "test_exits failed" in mark("test_exits") and "SystemExit: 4" in mark("test_exits")
    hung = step("snapshot", test="test_hang")
    assert hung.state["event"] == "interrupted" and hung.state["file"] == "odd.py" and "n = 1" in hung.text
    assert "still running at the time limit" in hung.text
    assert step("eval").state["kind"] == "tests", "the sandbox is well"


def test_a_script_and_a_wrong_test(play: Play) -> None:
    step = play(
        make_task({"tool.py": "import sys\nx = len(sys.argv)\nprint(x)\n1 / 0\n", "tests/test_a.py": "def test(): 0"})
    )
    observation = step("trace", place="tool.py:3", code="x", test="python tool.py a b")
    assert "#1: x = 3" in observation.text and "failed at tool.py:4: ZeroDivisionError" in observation.text
    assert "The program printed:\n3" in observation.text
    unknown = step("trace", place="tool.py:3", test="test_b").text
    assert "no test test_b: the closest are tests/test_a.py::test" in unknown
    assert "no file tests/test_none.py" in step("snapshot", test="tests/test_none.py::test_b").text
    assert "ZeroDivisionError" in step("snapshot", test="python -c 'import tool'").text
    assert "'make test' is neither a test nor a Python program" in step("snapshot", test="make test").text
