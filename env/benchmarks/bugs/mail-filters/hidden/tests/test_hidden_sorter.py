# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from mailsort.mail import Mail
from mailsort.registry import load_filter
from mailsort.sorter import Sorter


def phrases():
    from mailsort.filters import phrases as module

    return module


def test_words_must_follow_each_other():
    score = load_filter("phrases", {"phrases": "win big;free", "weight": "0.5"})
    assert score(Mail("a", "win it big")) == 0
    assert score(Mail("a", "You win", "BIG, free!")) == 1.0


def test_limit_changes_what_is_looked_at():
    module = phrases()
    score = load_filter("phrases", {"phrases": "one;two;three"})
    mail = Mail("a", "one two three")
    try:
        module.set_limit(2)
        assert score(mail) == 2.0
        module.set_limit(0)
        assert score(mail) == 0
    finally:
        module.set_limit(100)
    assert score(mail) == 3.0


def test_statistics():
    before = phrases().statistics().get("rare word", 0)
    score = load_filter("phrases", {"phrases": "Rare Word"})
    score(Mail("a", "a rare word"))
    score(Mail("a", "rare words"))
    assert phrases().statistics()["rare word"] == before + 1


def test_switched_off():
    settings = {"phrases": {"phrases": "act now", "on": "no"}}
    assert Sorter(settings).folder(Mail("a", "act now")) == "Inbox"


@pytest.mark.parametrize("threshold, folder", [(1.5, "Junk"), (1.6, "Inbox")])
def test_opinions_add_up(threshold, folder):
    settings = {"phrases": {"phrases": "act now"}, "learned": {"weights": "now:0.5"}}
    assert Sorter(settings, threshold).folder(Mail("a", "Act now")) == folder
