# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import os

from diskusage import by_suffix, human, largest, measure


def build(top, sizes):
    for name, size in sizes.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)


def test_plain_tree(tmp_path):
    build(tmp_path, {"a.txt": 10, "src/b.py": 20, "src/deep/c.PY": 5, "skip.tmp": 99})
    usage = measure(tmp_path, skip=("*.tmp",))
    assert (usage.size, usage.folders) == (35, 3)
    assert by_suffix(usage) == {".py": 25, ".txt": 10}
    assert [os.path.basename(file.path) for file in largest(usage, 2)] == ["b.py", "a.txt"]


def test_links_are_left_out(tmp_path):
    build(tmp_path, {"a.txt": 10, "src/b.py": 20})
    (tmp_path / "src" / "top").symlink_to(tmp_path, target_is_directory=True)
    assert measure(tmp_path).size == 30


def test_link_to_the_top_folder(tmp_path):
    build(tmp_path, {"a.txt": 10, "src/b.py": 20})
    (tmp_path / "src" / "top").symlink_to(tmp_path, target_is_directory=True)
    usage = measure(tmp_path, follow_links=True)
    assert (usage.size, usage.folders, usage.unreadable) == (30, 2, [])


def test_sizes_for_people():
    assert [human(n) for n in (0, 1023, 1536, 20 * 1024**2)] == ["0 B", "1023 B", "1.5 KiB", "20.0 MiB"]
