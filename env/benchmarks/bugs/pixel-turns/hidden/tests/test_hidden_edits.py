# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import random

import pytest

from pixels.edits import apply
from pixels.files import load
from pixels.geometry import crop, transpose, turn
from pixels.image import Image
from pixels.filters import blur, invert
from pixels.geometry import mirror


def picture(width, height):
    return Image.from_function(width, height, lambda x, y: 10 * y + x)


@pytest.mark.parametrize("width, height", [(5, 2), (2, 5), (4, 4), (2, 6), (6, 2)])
@pytest.mark.parametrize("box", [(0, 0, 9, 9), (1, 1, 9, 9), (0, 1, 2, 4), (0, 0, 1, 1), (1, 0, 3, 5)])
def test_crop(width, height, box):
    left, top, w, h = box
    part = crop(picture(width, height), *box)
    rows = [[10 * y + x for x in range(width)][left:left + w] for y in range(height)][top:top + h]
    assert (part.width, part.height) == (len(rows[0]), len(rows))
    assert part.rows() == rows and len(part.data) == part.width * part.height


@pytest.mark.parametrize("width, height", [(5, 2), (2, 5), (3, 3)])
def test_turns(width, height):
    image = picture(width, height)
    assert turn(image, 1).rows() == [list(row) for row in zip(*image.rows()[::-1])]
    assert turn(turn(image, 1), 3).rows() == image.rows()
    assert transpose(image).rows() == [list(row) for row in zip(*image.rows())]


def test_saved_can_be_opened():
    for edits in ("crop 0 1 6 6", "turn 1; crop 0 0 6 6", "crop 2 0 9 9; turn 3", "transpose; crop 0 2 2 9; blur"):
        load(apply("6 2 " + " ".join("123456789abc").replace("a", "10").replace("b", "11").replace("c", "12"), edits))


def test_tall_part_is_whole():
    assert apply("1 4 1 2 3 4", "crop 0 1 1 3") == "1 3\n2\n3\n4\n"


def test_many_pictures():
    chance = random.Random(5)
    for _ in range(150):
        width, height = chance.randint(1, 6), chance.randint(1, 6)
        rows = [[chance.randint(0, 255) for _ in range(width)] for _ in range(height)]
        image = Image(width, height, [value for row in rows for value in row])
        left, top = chance.randrange(width), chance.randrange(height)
        w, h = chance.randint(1, 8), chance.randint(1, 8)
        assert crop(image, left, top, w, h).rows() == [row[left : left + w] for row in rows[top : top + h]]
        turned = [rows, [list(row) for row in zip(*rows[::-1])], [row[::-1] for row in rows[::-1]], [list(row) for row in zip(*rows)][::-1]]
        for quarters in range(-5, 6):
            found = turn(image, quarters)
            assert found.rows() == turned[quarters % 4] and (found.width, found.height) == (len(turned[quarters % 4][0]), len(turned[quarters % 4]))
        assert mirror(image).rows() == [row[::-1] for row in rows]
        assert invert(image).rows() == [[255 - value for value in row] for row in rows]
        near = [
            [[v for line in rows[max(0, y - 1) : y + 2] for v in line[max(0, x - 1) : x + 2]] for x in range(width)] for y in range(height)
        ]
        assert blur(image).rows() == [[sum(values) // len(values) for values in line] for line in near]
        assert image.rows() == rows


def test_edits_in_order():
    text = "3 2\n1 2 3\n4 5 6\n"
    assert apply(text, "crop 1 0 9 9; turn 1") == "2 2\n5 2\n6 3\n"
    assert apply(text, "turn 1; crop 1 0 9 9") == "1 3\n1\n2\n3\n"
    assert apply(text, "transpose; crop 0 1 2 2; mirror; invert") == "2 2\n250 253\n249 252\n"
    assert apply(text, ";") == text
