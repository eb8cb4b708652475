"""What of a task is written down."""

from __future__ import annotations

from stackrank.env.task import Fault
from stackrank.flows.runs.preparing.stored_benchmark import MOST_SHOWN, shown_files
from tests.fixtures.env import make_task


def test_only_small_texts_are_stored_and_faulty_files_come_first() -> None:
    half = "x" * (MOST_SHOWN // 2)
    task = make_task({"a.txt": half, "b.py": half, "z.py": half}, faults=(Fault("z.py", (), (1,)),))
    assert list(shown_files(task)) == ["z.py", "b.py"]
    odd = make_task({"p.png": b"\x89PNG\0", "latin.py": "é".encode("latin-1"), "ok.py": "é"})
    assert shown_files(odd) == {"latin.py": "é", "ok.py": "é"}
