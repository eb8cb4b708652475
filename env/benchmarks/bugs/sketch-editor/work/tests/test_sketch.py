# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from sketch import Editor


def test_star_comes_and_goes():
    editor = Editor("house")
    assert editor.title_bar() == "house"
    editor.add("wall")
    assert editor.title_bar() == "house *"
    editor.save()
    assert editor.title_bar() == "house"
    editor.undo()
    assert editor.title_bar() == "house *"
    editor.redo()
    assert editor.title_bar() == "house"


def test_moves_are_one_step():
    editor = Editor()
    editor.add("door", 5, 5)
    editor.move("door", 1, 0)
    editor.move("door", 2, 3)
    editor.undo()
    shape = editor.drawing.shapes["door"]
    assert (shape.x, shape.y) == (5, 5)


def test_undo_and_draw_something_else():
    editor = Editor("house")
    editor.add("wall")
    editor.paint("wall", "red")
    editor.save()
    editor.undo()
    editor.paint("wall", "blue")
    assert editor.title_bar() == "house *"
    assert not editor.may_close()
