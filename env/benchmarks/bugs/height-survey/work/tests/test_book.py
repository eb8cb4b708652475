# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from survey.book import FieldBook, Misfit

LINE = "A B 120\nB C -30\nC D 500\n"


def test_line():
    book = FieldBook()
    book.read(LINE)
    assert book.profile(["B", "A", "C", "D"]) == [0, -120, -30, 470]


def test_two_surveys_joined():
    book = FieldBook()
    book.read(LINE + "X Y 40\nY Z 5\nX W 7\nZ V 1\n")
    assert book.rise("A", "Z") is None
    book.measure("D", "Y", 1000)
    assert book.rise("A", "Z") == 590 + 1000 + 5


def test_heights():
    book = FieldBook()
    book.read(LINE + "B = 2000\n")
    assert book.height("D") == 2470
    assert book.height("Q") is None


def test_misfit():
    book = FieldBook()
    book.read(LINE)
    assert book.measure("A", "D", 588) and not book.measure("D", "A", 590)
    assert book.misfits == [Misfit("D", "A", 590, -590)]
