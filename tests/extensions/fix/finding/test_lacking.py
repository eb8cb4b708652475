"""Why a failure says nothing about the program, from its message and the project's files."""

from __future__ import annotations

from collections import Counter

import pytest

from stackrank.extensions.fix.finding.lacking import Lacking

FILES = {
    "shop/cart.py": b"import numpy\n\n\ndef add(a, b):\n    return a + b\n",
    "test_shop.py": b"from helpers import test_price\n",
    "conftest.py": b"@fixture(name='till')\ndef make_till():\n    pass\n",
}


class CountedFiles(dict[str, bytes]):
    """Files that count how often each is read."""

    def __init__(self) -> None:
        super().__init__(FILES)
        self.reads: Counter[str] = Counter()

    def __getitem__(self, path: str) -> bytes:
        self.reads[path] += 1
        return super().__getitem__(path)


@pytest.mark.parametrize(
    ("test", "message", "reason"),
    [
        ("test_x", "ModuleNotFoundError: No module named 'bson'", "needs the module bson"),
        ("test_x", "ModuleNotFoundError: No module named 'numpy.linalg'", ""),
        ("test_x", "ModuleNotFoundError: No module named 'cart'", ""),
        ("test_x", "FixtureLookupError: ('mocker', <SubRequest>)", "needs the fixture mocker"),
        ("test_x", "FixtureLookupError: ('till', <SubRequest>)", ""),
        ("test_x", "FixtureLookupError", ""),
        ("test_price", "FixtureLookupError: ('price', <SubRequest>)", "it is no test"),
        ("test_x", "FileNotFoundError: [Errno 2] No such file or directory: 'spec/cases.json'", "submodule spec"),
        ("test_x", "FileNotFoundError: [Errno 2] No such file or directory: 'cases.json'", ""),
        ("test_x", "AssertionError: assert 1 == 2", ""),
    ],
)
def test_what_is_missing_is_read_from_the_message(test: str, message: str, reason: str) -> None:
    explanation = Lacking(FILES, ["spec"]).explain_test(f"test_shop.py::{test}", message)
    assert reason in explanation and bool(reason) == bool(explanation)


def test_files_are_read_once_for_all_tests_that_lack_the_same() -> None:
    files = CountedFiles()
    lacking = Lacking(files)
    for number in range(50):
        assert lacking.explain_test(f"test_x.py::test_{number}", "ModuleNotFoundError: No module named 'bson'")
        assert lacking.explain_test(f"test_x.py::test_{number}", "FixtureLookupError: ('mocker', <SubRequest>)")
    assert max(files.reads.values()) <= 2
