# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from pixels.edits import apply
from pixels.files import load
from pixels.geometry import crop, transpose, turn
from pixels.image import Image


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
