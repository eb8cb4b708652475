"""How the tests of a task of `fresh` are shared out between agents and the verdict."""

from __future__ import annotations

import pytest

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.extensions.authoring.withheld import choose_withheld, find_sealing_tests, without_withheld
from tests.extensions.authoring.tiny_library import OWN_TESTS

INHERITED = """\
class Tests:
    def test_a(self):
        assert self.number == 1

    def test_b(self):
        assert self.number == 1


class TestOne(Tests):
    number = 1


class TestTwo(TestOne):
    number = 2
"""


def test_inherited_tests_are_withheld_from_all_classes_that_have_them() -> None:
    failing = ("t.py::TestTwo::test_a", "t.py::TestTwo::test_b")
    tests = ("t.py::TestOne::test_a", "t.py::TestOne::test_b", *failing)
    withheld = choose_withheld({"t.py": INHERITED.encode()}, failing, tests)
    assert set(withheld) == {"t.py::TestOne::test_b", "t.py::TestTwo::test_b"}
    visible = without_withheld({"t.py": INHERITED.encode()}, withheld)
    assert "test_a" in visible["t.py"].decode() and "test_b" not in visible["t.py"].decode()
    with pytest.raises(BenchmarkError, match="only one test"):
        choose_withheld({"t.py": INHERITED.encode()}, ("t.py::TestOne::test_a", "t.py::TestTwo::test_a"))
    files = {"t.py": INHERITED.encode(), "u.py": b"from t import Tests\n\n\nclass TestThree(Tests):\n    number = 3\n"}
    with pytest.raises(BenchmarkError, match="told apart"):  # it would be gone from the other file too
        choose_withheld(files, ("t.py::TestTwo::test_a", "t.py::TestTwo::test_b"), ("u.py::TestThree::test_b",))


ONE = "def test_a():\n    pass\n\n\n"
IN_A_CLASS = "class T:\n    def test_b(self):\n        assert len([]) == 0\n"


def test_half_of_the_failing_tests_is_withheld() -> None:
    failing = ("t.py::test_most", "t.py::TestOrder::test_both[1]", "t.py::TestOrder::test_both[2]")
    files = {"t.py": OWN_TESTS.encode(), "u.py": b""}
    withheld = choose_withheld(files, failing)
    assert withheld == ("t.py::TestOrder::test_both",)
    visible = without_withheld(files, withheld)
    text = visible.pop("t.py").decode()
    assert not visible
    assert "test_both" not in text and "parametrize" not in text, "its decorator goes with it"
    assert "def test_most" in text and "def test_all" in text


SEALING = "def test_b():\n    assert len([]) == 0\n\n\n"
RAISING = "def test_r():\n    with pytest.raises(shop.Error):\n        f()\n\n\n"
CASES = """\
@pytest.mark.parametrize(("text", "count"), [("a", 1), ("b", 2)])
def test_c(text, count):
    assert f(text) == count


"""


def test_tests_that_could_seal_a_verdict_are_withheld() -> None:
    for letter in ("a", "r"):
        text = SEALING + ONE + RAISING
        for failing in ((f"t.py::test_{letter}", "t.py::test_b"), ("t.py::test_b", f"t.py::test_{letter}")):
            assert choose_withheld({"t.py": text.encode()}, failing) == ("t.py::test_b",)


def test_what_could_seal_may_have_cases_and_be_inherited() -> None:
    files = {"t.py": (SEALING + ONE + RAISING + CASES).encode(), "u.py": INHERITED.encode()}
    tests = ["t.py::test_a", "t.py::test_b", "t.py::test_c[a-1]", "t.py::test_c[b-2]", "t.py::test_r"]
    tests += ["u.py::TestOne::test_a", "u.py::TestTwo::test_a"]
    seal = {"t.py::test_b", "t.py::test_c", "u.py::TestOne::test_a", "u.py::TestTwo::test_a"}
    assert find_sealing_tests(files, tests) == seal, (
        "an exception of one's own becomes another, but no other becomes that"
    )
    assert choose_withheld(files, ("t.py::test_c[a-1]", "t.py::test_a"), (), ("t.py::test_c[b-2]",)) == (
        "t.py::test_c",
    )


@pytest.mark.parametrize(
    ("text", "failing", "problem"),
    [
        (OWN_TESTS, ("t.py::test_most",), "only one test"),
        (OWN_TESTS, ("t.py::TestOrder::test_both[1]", "t.py::TestOrder::test_both[2]"), "only one test"),
        (f"{ONE}{IN_A_CLASS}", ("t.py::test_a", "t.py::T::test_b"), "told apart"),
        (f"{ONE}test_b = test_a\n", ("t.py::test_a", "t.py::test_b"), "told apart"),
        (f"{ONE}def test_b():\n    pass\n", ("t.py::test_a", "t.py::test_b"), "no expectation of its tests"),
    ],
)  # fmt: skip
def test_tests_that_cannot_be_shared_out(text: str, failing: tuple[str, ...], problem: str) -> None:
    with pytest.raises(BenchmarkError, match=problem):
        choose_withheld({"t.py": text.encode()}, failing)
