# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from loans.events import Borrowed, Paid, Reserved, Returned, blank
from loans.library import Library
from loans.snapshots import Snapshots

HISTORY = [
    Borrowed("a", 5), Returned("a", 8), Borrowed("b", 9), Reserved("c", "east"),
    Reserved("c", "west"), Reserved("d", "east"), Returned("b", 10), Borrowed("d", 20),
    Reserved("c", "north"), Paid(), Returned("d", 21),
]


def replayed(version):
    library = Library(interval=1000)
    library.record("m", *HISTORY)
    return library.account("m", version)


def test_every_version_in_any_order():
    library = Library(interval=3)
    library.record("m", *HISTORY)
    for version in [11, 4, 11, 10, 5, 3, 9, 0, 7, 8, 6, 11, 2, 1, 10, 4]:
        assert library.account("m", version) == replayed(version)


def test_page_after_each_event():
    library = Library(interval=2)
    for number, event in enumerate(HISTORY, 1):
        assert library.record("m", event) == number
        library.page("m")
        assert library.account("m") == replayed(number)


def test_caller_may_change_the_account():
    library = Library(interval=4)
    library.record("m", *HISTORY[:4])
    state = library.account("m")
    state["reserved"]["c"].append("somewhere")
    state["fees"].clear()
    assert library.account("m") == replayed(4)
    again = library.account("m")
    again["reserved"]["c"].append("somewhere")
    again["lent"]["x"] = 1
    assert library.account("m") == replayed(4)


def test_kept_state_is_independent():
    snapshots = Snapshots()
    state = blank()
    snapshots.keep("m", 3, state)
    state["fees"].append(1)
    version, copy = snapshots.latest("m", 5)
    assert (version, copy) == (3, blank())
    copy["reserved"]["q"] = ["east"]
    assert snapshots.latest("m", 3) == (3, blank())
    assert snapshots.latest("m", 2) == (0, blank())


def test_newest_suitable_snapshot():
    snapshots = Snapshots()
    for version in (8, 4, 12, 4):
        snapshots.keep("m", version, dict(blank(), count=version))
    assert [snapshots.latest("m", v)[0] for v in (3, 4, 7, 8, 11, 12, 99)] == [0, 4, 4, 8, 8, 12, 12]


def test_members_are_independent():
    library = Library(interval=1)
    library.record("m", Reserved("c", "east"))
    library.record("n", Reserved("c", "west"), Reserved("c", "east"))
    for _ in range(3):
        assert library.page("m")["reserved"] == {"c": 1}
        assert library.page("n")["reserved"] == {"c": 2}


def test_reservations_of_an_old_version():
    library = Library(interval=3)
    library.record("m", *HISTORY)
    library.account("m", 4)
    library.account("m", 11)
    assert library.account("m", 5)["reserved"] == {"c": ["east", "west"]}
    assert library.account("m", 5)["fees"] == [30]


def test_page_on_every_reload():
    library = Library(interval=3)
    library.record("m", *HISTORY[:8])
    library.page("m")
    library.page("m")
    assert library.page("m")["reserved"] == {"c": 2}
    assert library.page("m")["owed"] == 40
