# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from sensorlog import BadReading, Reading, append, load, summary


def test_round_trip(tmp_path):
    path = tmp_path / "a.jsonl"
    append(path, [Reading("t1", 20.5), Reading("t2", 3, "öl")])
    append(path, [Reading("t1", 21.5)])
    assert summary(load(path)) == {"t1": (20.5, 21.0, 21.5), "t2": (3.0, 3.0, 3.0)}


def test_file_of_the_new_logger(tmp_path):
    path = tmp_path / "logger.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"sensor": "t1", "value": 1}\r\n{"sensor": "t1", "value": 3}\r\n')
    assert load(path) == [Reading("t1", 1.0), Reading("t1", 3.0)]


def test_bad_entry(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"sensor": "t1"}\n')
    with pytest.raises(BadReading, match="value is missing"):
        load(path)
