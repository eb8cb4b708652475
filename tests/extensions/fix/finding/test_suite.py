"""Which tests run again, and what is said of suites that take long."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stackrank.extensions.fix.finding import suite as suite_module
from stackrank.extensions.fix.finding.suite import run_suite
from tests.extensions.fix.opening import opened
from tests.fixtures.env import usable

FILES = {
    "shop.py": "def total(items):\n    return sum(items[1:])\n",
    "test_net.py": "import urllib.request\n\n\ndef test_it():\n    urllib.request.urlopen('http://192.0.2.7/')\n",
    "test_plug_in.py": "def test_it(mocker):\n    pass\n",
    "test_lib.py": "import no_such_library\n",
    "test_shop.py": "from shop import total\n\n\ndef test_it():\n    assert total([2]) == 2\n",
}


@pytest.mark.slow
def test_only_what_may_be_the_fault_of_the_program_runs_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_run, ran, lines = suite_module._run, list[Sequence[str]](), list[str]()

    def run(*arguments: Any) -> Any:
        ran.append(arguments[3])
        return real_run(*arguments)

    monkeypatch.setattr(suite_module, "_run", run)
    monkeypatch.setattr(suite_module, "_LONG_S", 0.0)
    suite = run_suite(opened(tmp_path / "p", FILES), usable("bubblewrap"), times=3, say=lines.append)
    assert ran == [(), ["test_shop.py"], ["test_shop.py"]]
    assert set(suite.failing) == {"test_shop.py::test_it"} and suite.not_isolated == ("test_net.py::test_it",)
    assert set(suite.lacking) == {"test_plug_in.py::test_it"} and len(suite.unread) == 1 and not suite.flaky
    assert len(lines) == 1 and "pytest -q -p no:cacheprovider test_shop.py' for what may fail" in lines[0]
