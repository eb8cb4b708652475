# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from macros import Book, Document


def test_plain():
    assert Book(NAME="Ann", PLACE="Rome").expand("NAME of PLACE, not NAMES; NAME") == "Ann of Rome, not NAMES; Ann"


def test_macros_in_macros():
    assert Book(URL="http://HOST/x", HOST="a.org").expand("<URL> at HOST") == "<http://a.org/x> at a.org"


def test_macro_mentions_itself():
    assert Book(A="A + 1").expand("A, A") == "A + 1, A + 1"


def test_same_macro_again():
    document = Document("#define HOST = a.org\n#define BOTH = HOST and HOST:PORT\n#define PORT = 80\nBOTH")
    assert document.expanded() == "a.org and a.org:80"
