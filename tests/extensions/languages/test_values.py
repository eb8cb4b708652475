"""How the tool `debug` shows values that have parts."""

from __future__ import annotations

import pytest

from tests.extensions.languages.test_debug import FILES, opened

NESTED = """\
#include <map>
#include <memory>
#include <string>
#include <vector>
struct Point { int x; int y; };
struct Node { int number; Node* next; };
int main() {
    std::vector<std::vector<int>> grid = {{1, 2}, {3, 4}};
    std::map<std::string, std::vector<Point>> lines = {{"k", {{5, 6}}}};
    std::unique_ptr<Point> owned(new Point{7, 8});
    Node ring = {9, &ring};
    const void* raw = nullptr;
    return grid.size() + lines.size() + owned->x + (raw != nullptr);
}
"""


@pytest.mark.exhaustive
def test_the_parts_of_parts_are_shown_and_a_ring_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FILES["cpp"], "main.cpp", NESTED)
    for played in opened("cpp"):
        values = played("b main.cpp:13", "c", mode="")[1]["locals"]
        assert values["grid"] == "size=2 {size=2 {1, 2}, size=2 {3, 4}}"
        assert values["lines"] == 'size=1 {{first: "k", second: size=1 {{x: 5, y: 6}}}}'
        assert values["owned"] == "{pointer: {x: 7, y: 8}}"
        assert values["ring"].startswith("{number: 9, next: {number: 9, ") and values["ring"].count("number") < 6
        assert values["raw"] == "0x0000000000000000"
