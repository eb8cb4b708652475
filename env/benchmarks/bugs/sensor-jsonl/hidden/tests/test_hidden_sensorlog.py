# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import json

import pytest

from sensorlog import Reading, append, load, load_folder

SIGNATURE = b"\xef\xbb\xbf"


def test_signature_before_other_languages(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(SIGNATURE + '{"sensor": "größe", "value": 1.5, "remark": "日本"}\n'.encode("utf-8"))
    assert load(path) == [Reading("größe", 1.5, "日本")]


def test_folder_with_and_without_signatures(tmp_path):
    for name, start in (("a", SIGNATURE), ("b", b""), ("c", SIGNATURE)):
        (tmp_path / f"{name}.jsonl").write_bytes(start + b'{"sensor": "%s", "value": 1}\n\n' % name.encode())
    assert [reading.sensor for reading in load_folder(tmp_path)] == ["a", "b", "c"]


def test_file_with_nothing_but_a_signature(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(SIGNATURE)
    assert load(path) == []


def test_appending_keeps_the_file_readable_and_adds_no_signature(tmp_path):
    path = tmp_path / "a.jsonl"
    append(path, [Reading("x", 1)])
    append(path, [Reading("y", 2, "ü")])
    assert SIGNATURE not in path.read_bytes()
    assert path.read_bytes().count(b"\n") == 2
    path.write_bytes(SIGNATURE + path.read_bytes())
    append(path, [Reading("z", 3)])
    assert [reading.sensor for reading in load(path)] == ["x", "y", "z"]


def test_same_character_inside_a_remark_is_kept(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(SIGNATURE + '{"sensor": "s", "value": 1, "remark": "\ufeffa\ufeff"}\n'.encode("utf-8"))
    assert load(path) == [Reading("s", 1.0, "\ufeffa\ufeff")]


def test_broken_line_is_an_error(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"sensor": "s", \n')
    with pytest.raises(json.JSONDecodeError):
        load(path)


@pytest.mark.parametrize("start", [b"", SIGNATURE])
def test_remarks_with_any_signs(tmp_path, start):
    path = tmp_path / "a.jsonl"
    signs = [chr(number) for number in range(1, 0x100)] + ["\u2028", "\u2029", "\ufeff", "\ufffe", "\U0001f600"]
    readings = [Reading(f"s{sign}", -0.5, f"{sign}x{sign}") for sign in signs]
    path.write_bytes(start)
    append(path, iter(readings))
    assert path.read_bytes().startswith(start) and path.read_bytes().count(SIGNATURE) == bool(start) + 3
    assert load(path) == readings
    assert load_folder(tmp_path) == readings


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_signatures_elsewhere_are_an_error(tmp_path, end):
    path, line = tmp_path / "a.jsonl", b'{"sensor": "s", "value": 1}'
    path.write_bytes(SIGNATURE + end + line + end + end + line)
    assert load(path) == [Reading("s", 1.0)] * 2
    for data in (line + end + SIGNATURE + line, SIGNATURE + SIGNATURE + line, line + end + SIGNATURE, line + SIGNATURE + end):
        path.write_bytes(data)
        with pytest.raises(json.JSONDecodeError):
            load(path)
    path.write_bytes(SIGNATURE + line.replace(b"s", b"\xff", 1))
    with pytest.raises(UnicodeDecodeError):
        load(path)
