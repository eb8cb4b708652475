"""Programs that observers meet seldom: what is said about them is true all the same."""

from __future__ import annotations

from tests.fixtures.env import Play, make_task


def test_calls_in_threads_are_shown(play: Play) -> None:
    program = """
        import threading

        def work(n):
            return n + 1

        def run():
            threads = [threading.Thread(target=work, args=(n,)) for n in (2, 3)]
            for thread in threads:
                thread.start()
                thread.join()
    """
    step = play(
        make_task({"jobs.py": program, "tests/test_a.py": "import jobs\n\ndef test():\n    assert jobs.run()\n"})
    )
    text = step("calls", place="work").text
    assert "#1 work(n=2) -> 3\n#2 work(n=3) -> 4" in text and "wrote into" not in text


def test_a_breakpoint_of_the_program_is_passed_over(play: Play) -> None:
    program = "def f():\n    x = 1\n    breakpoint()\n    return x\n"
    step = play(make_task({"a.py": program, "tests/test_a.py": "import a\n\ndef test():\n    assert a.f() == 2\n"}))
    for shown in (step("snapshot"), step("inspect", place="a.py:4", code="x"), step("calls", place="f")):
        assert "[breakpoint() in the program was passed over]" in shown.text
        assert "never reached" not in shown.text and "BdbQuit" not in shown.text


def test_changes_of_outer_variables_are_found(play: Play) -> None:
    program = """
        def counter():
            n = 0
            def inc(k):
                nonlocal n
                n += k
            return inc

        class Empty:
            def __init__(self):
                self.size = 1
    """
    test = "import a\n\ndef test():\n    inc = a.counter()\n    inc(5)\n    assert a.Empty().size == 2\n"
    step = play(make_task({"a.py": program, "tests/test_a.py": test}))
    assert "nonlocal n: 0 -> 5" in step("calls", place="inc", hit=1).text
    made = step("calls", place="Empty.__init__").text
    assert "changed self.size = 1, new" in made and "-> Empty" not in made


def test_tests_are_found_by_class_and_by_parameters_as_written(play: Play) -> None:
    test = """
        import pytest

        class TestWords:
            @pytest.mark.parametrize("word", ["ü/é", "a"])
            def test_word(self, word):
                assert word == "b"
    """
    step = play(make_task({"tests/test_a.py": test}))
    for name in ("TestWords::test_word[a]", "test_word[ü/é]", "tests/test_a.py::TestWords::test_word[ü/é]"):
        assert " failed at tests/test_a.py:6: AssertionError" in step("snapshot", test=name).text


def test_a_run_that_did_not_come_to_its_tests_is_no_success(play: Play) -> None:
    files = {"pytest.ini": "[pytest]\naddopts = --no-such-option\n", "tests/test_a.py": "def test(): pass\n"}
    for task in (
        make_task(files),
        make_task({"tests/test_a.py": "import os\n\ndef test():\n    os._exit(3)\n"}),
    ):
        assert "Nothing failed" not in play(task)("snapshot").text
