# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import random

from sheet import refs
from sheet.book import Sheet


def test_sixty_columns():
    sheet = Sheet()
    assert sheet.fill_right("A1", list(range(1, 61))) == "BH1"
    sheet.set("A2", "=SUM(A1:BH1)")
    sheet.set("B2", "=MAX(BH1:A1) - MIN(Y1:AC1)")
    assert sheet.get("A2") == 1830
    assert sheet.get("B2") == 35
    assert sheet.get("AZ1") == 52


def test_letters_round_trip():
    for letters in ["A", "Y", "Z", "AA", "AZ", "BA", "BZ", "YZ", "ZZ", "AAA", "AZZ", "ZZZ"]:
        assert refs.column_letters(refs.column_number(letters)) == letters


def test_all_letters_are_different():
    names = [refs.column_letters(n) for n in range(1, 1500)]
    assert len(set(names)) == len(names)
    assert [refs.column_number(n) for n in names] == list(range(1, 1500))


def test_used_range():
    sheet = Sheet()
    assert sheet.used() == ""
    sheet.set("C4", 1)
    sheet.set("AZ2", 2)
    assert sheet.used() == "C2:AZ4"


def test_shift_over_the_end_of_the_alphabet():
    assert refs.shift("Y9", 1, 1) == "Z10"
    assert refs.shift("Z9", 1, 0) == "AA9"
    assert refs.shift("ZY1", 2, 0) == "AAA1"


def test_expand_is_row_by_row():
    assert list(refs.expand("AA2", "Z1")) == ["Z1", "AA1", "Z2", "AA2"]


def test_columns_as_far_as_one_likes():
    chance = random.Random(1)
    numbers = [26**power + more for power in range(1, 9) for more in range(-27, 28) if 26**power + more > 0]
    numbers += [sum(26**place for place in range(power)) + more for power in range(1, 9) for more in (-1, 0, 1)][1:]
    for number in [*numbers, *(chance.randint(1, 10**12) for _ in range(300))]:
        letters = refs.column_letters(number)
        assert letters.isalpha() and letters.isupper() and letters.isascii()
        assert refs.column_number(letters) == number
        assert refs.split(refs.join(number, 7)) == (number, 7)
        assert refs.split(refs.shift("C5", number, 2)) == (number + 3, 7)


def test_rectangles_between_any_corners():
    chance = random.Random(2)
    for _ in range(60):
        (c1, r1), (c2, r2) = [(chance.choice([1, 24, 50, 700, 18270]) + chance.randint(0, 9), chance.randint(1, 4)) for _ in range(2)]
        if abs(c1 - c2) > 50:
            c2 = c1 + chance.randint(0, 9)
        columns, rows = range(min(c1, c2), max(c1, c2) + 1), range(min(r1, r2), max(r1, r2) + 1)
        found = list(refs.expand(refs.join(c1, r1), refs.join(c2, r2)))
        assert [refs.split(address) for address in found] == [(column, row) for row in rows for column in columns]
        sheet = Sheet()
        for number, address in enumerate(found):
            sheet.set(address, number)
        assert sheet.used() == f"{found[0]}:{found[-1]}"
        sheet.set("ZZZZ9", f"=SUM({found[0]}:{found[-1]})")
        assert sheet.get("ZZZZ9") == sum(range(len(found)))
