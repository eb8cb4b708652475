# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from console.shell import run


def test_driving():
    assert run(["go 3", "turn 1", "go 2", "where"]) == ["at 0,3", "heading E", "at 2,3", "at 2,3 after 5 steps"]


def test_dock():
    assert run(["go 2", "dock", "where"]) == ["at 0,2", "home from 0,2", "at 0,0 after 0 steps"]


def test_mistakes():
    assert run(["fly", "go", "go far", ""]) == [
        "unknown command: fly",
        "go takes 1 arguments",
        "error: invalid literal for int() with base 10: 'far'",
        "",
    ]
