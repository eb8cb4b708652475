"""The debug adapter for Java, which is our own: what the other languages' adapters have been tested for elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.extensions.languages.test_debug import FILES, Played, opened

VALUES = """\
import java.util.*;

class Main {
    enum Colour { RED, GREEN }
    record Point(int x, int y) {}
    static class Node { int number = 9; Node next = this; int twice() { return number * 2; } }
    interface Shape { double area(); }

    static int strict(String text) {
        return Integer.parseInt(text);
    }

    public static void main(String[] words) {
        List<List<Integer>> grid = List.of(List.of(1, 2), new ArrayList<>(List.of(3, 4)));
        Map<String, List<Point>> lines = new TreeMap<>(Map.of("k", List.of(new Point(5, 6)), "a", List.of()));
        Node ring = new Node();
        int[][] cells = {{1, 2}, {3}};
        char letter = 'a'; Object nothing = null; Integer boxed = 7; Colour colour = Colour.GREEN;
        long[] many = new long[100];
        Shape inner = new Shape() {
            public double area() {
                return ring.number;
            }
        };

        try { strict("no"); } catch (NumberFormatException error) { System.out.println("caught \\u00e9"); }
        System.out.println(inner.area());
        strict("1x" + "x".repeat(1000));
    }
}
"""
TESTS = """\
import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class MainTest {
    @Test
    void refuses() {
        assertThrows(NumberFormatException.class, () -> Main.strict("no"));
    }

    @Test
    void counts() {
        int count = Main.strict("3");
        assertEquals(4, count);
    }
}
"""


@pytest.fixture(params=["bubblewrap", "docker"])
def java(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Played]:
    monkeypatch.setitem(FILES, "java", {"Main.java": VALUES, "MainTest.java": TESTS})
    yield from opened("java", sandbox=request.param)


@pytest.mark.exhaustive
def test_values_are_shown_in_depth_and_expressions_in_javas_words(java: Played) -> None:
    _, state = java("b Main.java:25", "c", mode="")
    assert state["line"] == 26  # the next line with code
    values = state["locals"]
    assert values["grid"] == "[[1, 2], [3, 4]]" and values["cells"] == "[[1, 2], [3]]"
    assert values["lines"] == '{"a": [], "k": [Point{x: 5, y: 6}]}'
    assert values["ring"].startswith("Node{number: 9, next: Node{") and values["ring"].endswith("Node{...}}}}}")
    assert (values["letter"], values["nothing"], values["boxed"], values["colour"]) == ("'a'", "null", "7", "GREEN")
    assert values["many"].endswith("0, ... 100 in all]")
    for expression, value in {
        "grid.get(1).get(0)": "3",
        "ring.next.number + 1": "10",
        "cells[0][1]": "2",
        "ring.twice() * 2": "36",
        "java.lang.Math.max(1, 2)": "2",
        "boxed == 8 || lines.size() > 1 && ring.twice() == 18": "true",
        "boxed == 7 && nothing != null": "false",
        "(boxed == 8 || boxed == 7) && ring.number == 9": "*** it has || within parentheses or a text",
        '"a&&b".length()': "*** it has && within parentheses or a text",
        'Main.strict("no")': "*** it threw java.lang.NumberFormatException",
        "no_such.name": "*** Name unknown: no_such.name",
        "ring.": '*** Encountered "<EOF>" at line 1, column 5.',
    }.items():
        assert java(f"p {expression}")[0].startswith(value), expression
    _, state = java("b Main.java:22 if ring.number == 9", "c")
    assert state["function"] == "Main$1.area"
    assert state["locals"]["val$ring"].startswith("Node{number: 9")
    text, state = java("b Main.java:10 if nonsense > 1", "c")
    assert state["line"] == 10 and "*** The condition nonsense > 1 cannot be read" in text


@pytest.mark.exhaustive
def test_an_exception_stops_where_it_leaves_the_program(java: Played) -> None:
    text, state = java("c", mode="")
    assert (state["event"], state["line"]) == ("exception", 10) and "caught \u00e9" in text
    assert state["exception"].startswith('java.lang.NumberFormatException: For input string: "1xx')
    assert len(state["exception"]) == 503 and list(state["locals"]) == ["text"]
    assert java("c")[1]["exit"] == 1
    # JUnit catches everything: what a test expects does not stop, what makes it fail does.
    text, state = java("c", test="MainTest::counts()")
    assert (state["event"], state["file"], state["line"]) == ("exception", "MainTest.java", 13), text
    assert "expected: <4> but was: <3>" in state["exception"] and state["locals"]["count"] == "3"
    text, state = java("c", test="MainTest::refuses()")
    assert state["ended"] == "finished" and state["exit"] == 0, text


@pytest.mark.exhaustive
@pytest.mark.parametrize("java", ["bubblewrap"], indirect=True)  # images have no `ps` and `pkill`
def test_a_program_does_not_outlive_its_debugger(java: Played) -> None:
    assert java("b Main.java:10", "c", mode="")[1]["line"] == 10
    java.bench.sandbox.run("pkill -9 -f '[j]ava-adapter'", 10)
    text, state = java("n")
    assert not state["alive"] and "the debugger ended by signal 9" in text
    java.wait_until_ended()
