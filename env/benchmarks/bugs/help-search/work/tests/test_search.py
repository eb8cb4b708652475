# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from helpsearch.index import Index
from helpsearch.search import search


def index():
    result = Index()
    result.add("Printing", "How to print. Choose the printer in the menu.")
    result.add("Paper jams", "Open the printer. Pull the paper out. Close the printer. Try printing again.")
    result.add("Colours", "Colours look pale if the printer is old.")
    result.add("Saving files", "Files are saved in your folder.")
    return result


def test_title_first():
    assert search(index(), "saving a file")[0] == "Saving files"


def test_words_of_the_body():
    assert search(index(), "printer") == ["Paper jams", "Printing", "Colours"]


def test_no_such_word():
    assert search(index(), "elephants") == []
    assert search(index(), "the") == []
