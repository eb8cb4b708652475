# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from mailsort.mail import Mail
from mailsort.sorter import Sorter

SETTINGS = {
    "phrases": {"phrases": "win big; act now"},
    "learned": {"weights": "pills:1.0 meeting:-1.0"},
}


def test_phrase():
    assert Sorter(SETTINGS).folder(Mail("x@y", "Act NOW!", "or regret it")) == "Junk"


def test_learned():
    assert Sorter(SETTINGS).folder(Mail("x@y", "Cheap pills")) == "Junk"
    assert Sorter(SETTINGS).folder(Mail("x@y", "Meeting about pills")) == "Inbox"


def test_filter_that_does_not_exist():
    assert Sorter({"oracle": {}}).folder(Mail("x@y", "Act now")) == "Inbox"
