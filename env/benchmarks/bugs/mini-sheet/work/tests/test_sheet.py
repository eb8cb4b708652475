# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from sheet.book import Sheet


def test_sum_of_a_column():
    sheet = Sheet()
    for row in range(1, 6):
        sheet.set("B%d" % row, row)
    sheet.set("C1", "=SUM(B1:B5) - 5")
    assert sheet.get("C1") == 10


def test_far_cells_by_name():
    sheet = Sheet()
    sheet.set("Z1", 4)
    sheet.set("AB1", 5)
    sheet.set("A2", "=Z1+AB1+1")
    assert sheet.get("A2") == 10


def test_wide_row():
    sheet = Sheet()
    sheet.set("X3", 1)
    sheet.set("AA3", 2)
    sheet.set("A1", "=SUM(X3:AA3)")
    assert sheet.get("A1") == 3


def test_texts_are_left_out():
    sheet = Sheet()
    sheet.fill_right("A1", [3, "pears", 4])
    sheet.set("A2", "=COUNT(A1:E1)")
    assert sheet.get("A2") == 2
