# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
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
