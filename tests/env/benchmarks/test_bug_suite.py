"""The built-in bug suite as it is stored, and as agents see it."""

from __future__ import annotations

from pathlib import Path

from stackrank.env.benchmarks.bug_suite import DATA, load_task
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.patches import apply_patch


def test_crawlers_see_the_canary_and_agents_do_not() -> None:
    stored = [path for path in DATA.rglob("*") if path.is_file() and path.suffix in (".py", ".toml", ".patch")]
    for path in stored:
        assert path.read_text(encoding="utf-8").startswith("# stackrank-canary "), path
    tasks = load_benchmark("bugs").tasks()
    assert len(tasks) == 150
    for task in tasks:
        texts = [task.statement, task.title, task.test_command, *map(bytes.decode, task.files.values())]
        assert not [text for text in texts if "canary" in text], task.id
        work = DATA / task.id / "work"
        for path, content in task.files.items():
            assert content.split(b"\n")[1:] == (work / path).read_bytes().split(b"\n")[1:], "no line moves"
        fixed = apply_patch(task.files, task.fix)
        assert fixed != task.files and not any(b"canary" in content for content in fixed.values())
        assert task.fix.startswith("# stackrank-canary "), "exports name it"


def test_only_the_first_line_of_a_file_is_taken_for_the_canary(tmp_path: Path) -> None:
    canary = "# my-canary 00000000-0000-0000-0000-000000000000"
    folder = tmp_path / "one"
    (folder / "work").mkdir(parents=True)
    head = 'title = "t"\nstatement = "s"\ncategory = "logic"\ndifficulty = "easy"\n'
    (folder / "task.toml").write_text(f"{canary}\n{head}")
    (folder / "work" / "a.py").write_bytes(f"{canary}\r\nx = 1\n{canary}\n".encode())
    (folder / "work" / "test_a.py").write_text("# canary birds\n")
    patch = f"{canary}\n--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n {canary}\r\n-x = 1\n+x = 2\n {canary}\n"
    (folder / "fix.patch").write_bytes(patch.encode())
    task = load_task(folder)
    assert task.files == {"a.py": f"\r\nx = 1\n{canary}\n".encode(), "test_a.py": b"# canary birds\n"}
