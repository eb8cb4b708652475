"""What every backend does alike."""

from __future__ import annotations

import pytest

from stackrank.env.sandbox.base import Backend, Refused, SandboxError, SandboxSpec
from stackrank.env.sandbox.client import OUTPUT_CAP, Sandbox
from stackrank.env.sandbox.replies.workspace import Match
from stackrank.env.task import Limits

SPEC = SandboxSpec(limits=Limits(timeout_s=60, memory_mb=512))


def test_files_and_commands(any_backend: Backend) -> None:
    with Sandbox(any_backend, SPEC) as sandbox:
        sandbox.put({"b/two.py": b"x = 2\n", "a.txt": b"one\n", "run.sh": b"#!/bin/sh\necho ran\n"})
        assert sandbox.read("a.txt") == b"one\n"
        assert [entry[0] for entry in sandbox.listing(".", 2).entries] == ["a.txt", "b", "b/two.py", "run.sh"]
        assert sandbox.search("x =", glob="*.py").matches == (Match("b/two.py", 1, "x = 2"),)
        assert sandbox.run("./run.sh; cat; echo $HOME $TZ; exit 3", 5).output == "ran\n/tmp UTC\n"
        result = sandbox.run("pwd; exit 3", 5)
        assert (result.output.strip(), result.exit, result.timed_out) == (sandbox.root, 3, False)
        assert sandbox.run("kill -11 $$", 5).exit == -11


def test_changes_are_what_differs_from_the_baseline(any_backend: Backend) -> None:
    with Sandbox(any_backend, SPEC) as sandbox:
        sandbox.put({"kept.py": b"1\n", "edited.py": b"1\n", "gone.py": b"1\n"})
        assert sandbox.changes().files == {}
        # Same size, and a modification time that was set back: still seen.
        sandbox.run("touch -r edited.py t; printf '2\\n' > edited.py; touch -r t edited.py; rm t gone.py", 5)
        sandbox.run(
            "mkdir n; echo new > n/new.txt; ln -s /etc/passwd link; mkdir __pycache__; echo x > __pycache__/x; "
            "echo x > $(printf 'caf\\351.txt')",
            5,
        )
        changes = sandbox.changes()
        assert changes.files == {"edited.py": b"2\n", "n/new.txt": b"new\n"}
        assert (changes.deleted, changes.skipped) == (("gone.py",), ("link", "caf\ufffd.txt"))


def test_refusals_leave_the_sandbox_well(any_backend: Backend) -> None:
    with Sandbox(any_backend, SPEC) as sandbox:
        sandbox.put({"dir/a.py": b"1\n"})
        for wrong in ("../x", "/etc/passwd", "dir", "none.py", "", "a\0b"):
            with pytest.raises(Refused):
                sandbox.read(wrong)
        with pytest.raises(Refused, match=r"did you mean dir/a\.py"):
            sandbox.read("a.py")
        with pytest.raises(Refused, match="regular expression"):
            sandbox.search("(")
        with pytest.raises(Refused):
            sandbox.listing("dir/a.py")
        assert sandbox.read("dir/a.py") == b"1\n"


def test_hostile_expression_does_not_take_the_guest_along(sandbox: Sandbox) -> None:
    sandbox.put({"a.txt": b"a" * 200 + b"!\n"})
    with pytest.raises(Refused, match="took longer than 5 s"):
        sandbox.search("^(a+)+$")
    assert sandbox.read("a.txt")


def test_output_is_capped_at_its_source(any_backend: Backend) -> None:
    with Sandbox(any_backend, SPEC) as sandbox:
        sandbox.put({})
        result = sandbox.run("echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last", 10)
        assert len(result.output) < OUTPUT_CAP + 100
        assert result.output.startswith("first\n") and result.output.endswith("x\nlast\n")
        assert f"{result.dropped} bytes dropped" in result.output
        assert result.dropped > 2_900_000


def test_close_is_final(any_backend: Backend) -> None:
    sandbox = Sandbox(any_backend, SPEC)
    sandbox.put({})
    sandbox.close()
    sandbox.close()
    with pytest.raises(SandboxError):
        sandbox.ping()


def test_unknown_image_is_an_infrastructure_error(any_backend: Backend) -> None:
    with pytest.raises(SandboxError, match=r"image"):
        Sandbox(any_backend, SandboxSpec(image="stackrank-no-such-image:1"))


def test_surroundings_are_the_same_everywhere(sandbox: Sandbox) -> None:
    """What a program can see of its surroundings does not depend on the machine."""
    result = sandbox.run("id -u; hostname; echo $HOME $USER $LANG $TZ $PYTHONHASHSEED; pwd; env | grep -ci proxy", 5)
    assert result.output.split() == ["1000", "sandbox", "/tmp", "agent", "C.UTF-8", "UTC", "0", "/workspace", "0"]
