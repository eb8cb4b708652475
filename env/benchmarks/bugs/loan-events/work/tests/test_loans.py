# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from loans.events import Borrowed, Reserved, Returned
from loans.library import Library


def test_new_member():
    library = Library()
    library.record("ida", Borrowed("Emma", 14), Returned("Emma", 16))
    assert library.page("ida") == library.page("ida") == {"lent": [], "owed": 20, "reserved": {}, "count": 1}


def test_long_history():
    library = Library()
    library.record("ida", Borrowed("Emma", 14), Borrowed("Dune", 14), Returned("Emma", 14), Reserved("Ulysses", "east"))
    library.record("ida", Returned("Dune", 17), Reserved("Ulysses", "west"))
    library.page("ida")
    assert library.account("ida")["count"] == 2


def test_reload():
    library = Library()
    library.record("ida", Borrowed("Emma", 14), Returned("Emma", 15), Borrowed("Dune", 30), Reserved("Ulysses", "east"))
    library.record("ida", Borrowed("Kim", 18), Reserved("Ulysses", "west"))
    pages = [library.page("ida") for _ in range(4)]
    assert pages == [{"lent": ["Dune", "Kim"], "owed": 10, "reserved": {"Ulysses": 2}, "count": 3}] * 4


def test_unknown_member():
    assert Library().page("nobody") == {"lent": [], "owed": 0, "reserved": {}, "count": 0}
