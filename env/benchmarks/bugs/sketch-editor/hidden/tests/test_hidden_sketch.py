# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from sketch import Editor


def drawn(count, **options):
    editor = Editor("map", **options)
    for number in range(count):
        editor.add(f"s{number}")
    return editor


def test_several_steps_back_and_others_instead():
    editor = drawn(4)
    editor.save()
    for _ in range(3):
        editor.undo()
    for name in ("a", "b", "c", "d"):
        editor.add(name)
        assert not editor.may_close(), name


def test_undoing_the_other_steps_does_not_bring_the_saved_state_back():
    editor = drawn(2)
    editor.save()
    editor.undo()
    editor.add("a")
    editor.add("b")
    for _ in range(3):
        editor.undo()
        assert not editor.may_close()
    editor.redo()
    editor.redo()
    assert not editor.may_close()


def test_saved_state_below_the_new_steps_is_found_again():
    editor = drawn(2)
    editor.save()
    editor.add("a")
    editor.undo()
    assert editor.may_close()
    editor.add("b")
    editor.add("c")
    editor.undo()
    editor.undo()
    assert editor.may_close()


def test_saving_again_makes_it_right():
    editor = drawn(3)
    editor.save()
    editor.undo()
    editor.add("a")
    editor.save()
    assert editor.may_close()
    editor.undo()
    assert not editor.may_close()
    editor.redo()
    assert editor.may_close()


def test_move_after_saving_is_a_step_of_its_own():
    editor = drawn(1)
    editor.move("s0", 1, 1)
    editor.save()
    editor.move("s0", 1, 1)
    assert not editor.may_close()
    editor.undo()
    assert editor.may_close()
    assert editor.drawing.shapes["s0"].x == 1


def test_joined_move_after_undoing_past_the_save():
    editor = drawn(1)
    editor.move("s0", 1, 1)
    editor.paint("s0", "red")
    editor.save()
    editor.undo()
    editor.move("s0", 4, 4)
    assert not editor.may_close()
    editor.paint("s0", "green")
    assert not editor.may_close()


def test_limit():
    editor = drawn(3, limit=3)
    editor.undo()
    editor.save()
    editor.add("a")
    editor.add("b")
    editor.undo()
    editor.undo()
    assert editor.may_close()
    editor = drawn(3, limit=3)
    editor.save()
    for name in "abcd":
        editor.add(name)
    while editor.undo():
        assert not editor.may_close()


def test_what_was_undone_is_lost_when_something_is_drawn():
    editor = drawn(2)
    assert editor.undo() is True
    editor.add("a")
    assert editor.redo() is False
    assert list(editor.drawing.shapes) == ["s0", "a"]


def test_everything_undone_after_saving_and_something_else_drawn():
    editor = drawn(1)
    editor.save()
    assert editor.undo() is True
    editor.add("a")
    assert editor.title_bar() == "map *"
    assert editor.may_close() is False
    assert editor.undo() is True
    assert editor.undo() is False
    assert editor.may_close() is False


def test_as_many_steps_as_the_limit_can_be_undone():
    editor = drawn(5, limit=3)
    assert [editor.undo() for _ in range(4)] == [True, True, True, False]
    assert list(editor.drawing.shapes) == ["s0", "s1"]


def test_back_to_what_was_saved_after_drawing_something_else():
    editor = drawn(1)
    editor.save()
    editor.add("b")
    editor.add("c")
    editor.undo()
    editor.add("d")
    assert editor.title_bar() == "map *"
    editor.undo()
    editor.undo()
    assert editor.title_bar() == "map"
    assert editor.may_close() is True


class Steps:
    """All the states of a drawing, each with a number of its own, and which of them was saved."""

    def __init__(self, limit):
        self.limit, self.states, self.at, self.number, self.moved = limit, [(0, {})], 0, 0, None
        self.saved = 0

    def step(self, shapes, moved=None):
        joined = moved is not None and moved == self.moved and self.states[self.at][0] != self.saved
        self.number += 1
        del self.states[self.at + (0 if joined else 1) :]
        self.states.append((self.number, shapes))
        del self.states[: -self.limit - 1]
        self.at, self.moved = len(self.states) - 1, moved

    def go(self, way):
        self.moved = None
        if not 0 <= self.at + way < len(self.states):
            return False
        self.at += way
        return True


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
def test_star_after_any_steps(limit):
    for seed in range(80):
        chance, editor, steps, names = random.Random(seed), Editor("map", limit), Steps(limit), 0
        for _ in range(40):
            shapes = dict(steps.states[steps.at][1])
            action = chance.choice(["add", "move", "move", "paint", "undo", "undo", "undo", "redo", "save"])
            if action == "save":
                editor.save()
                steps.saved = steps.states[steps.at][0]
            elif action in ("undo", "redo"):
                assert getattr(editor, action)() is steps.go(-1 if action == "undo" else 1)
            elif action == "add" or not shapes:
                names += 1
                editor.add(f"s{names}", names, 1)
                steps.step({**shapes, f"s{names}": (names, 1, "black")})
            else:
                name = chance.choice(sorted(shapes))
                x, y, colour = shapes[name]
                if action == "paint" or steps.moved is None and steps.at < len(steps.states):
                    colour = chance.choice(["red", "blue", "green"])
                    editor.paint(name, colour)
                    steps.step({**shapes, name: (x, y, colour)})
                    if action == "paint":
                        continue
                    shapes = dict(steps.states[steps.at][1])
                editor.move(name, 2, 3)
                steps.step({**shapes, name: (x + 2, y + 3, colour)}, name)
            number, shapes = steps.states[steps.at]
            assert {s.name: (s.x, s.y, s.colour) for s in editor.drawing.shapes.values()} == shapes
            assert editor.may_close() is (number == steps.saved)
            assert editor.title_bar() == ("map" if number == steps.saved else "map *")
