# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from helpsearch.index import Index
from helpsearch.score import TITLE_BONUS, frequency, term_score
from helpsearch.search import search


def index():
    result = Index()
    result.add("Backups", "A backup is a copy. Copy the disk at night. A copy of a copy is no copy.")
    result.add("Disks", "Check the disk. Replace the disk when needed.")
    result.add("Night shift", "The server copies nothing.")
    result.add("Users", "Add users here.")
    return result


def test_body_counts():
    assert search(index(), "copy") == ["Backups"]
    assert search(index(), "nothing") == ["Night shift"]


def test_body_and_title():
    assert search(index(), "check disk") == ["Disks", "Backups"]


def test_limit():
    assert search(index(), "disk", limit=1) == ["Disks"]
    assert search(index(), "disk") == ["Disks", "Backups"]


@pytest.mark.parametrize("term", ["copy", "disk", "night", "backup", "user", "none"])
def test_term_score_is_frequency_and_bonus(term):
    for article in index().articles:
        bonus = TITLE_BONUS if term in article.title_terms else 0.0
        assert term_score(article, term) == pytest.approx(frequency(article, term) + bonus)


def test_more_in_the_body_is_better():
    result = Index()
    result.add("One", "tea water")
    result.add("Two", "tea tea water")
    result.add("Three", "milk")
    assert search(result, "tea") == ["Two", "One"]


def test_title_only_article():
    result = Index()
    result.add("Empty tea", "")
    result.add("Other", "cup")
    assert search(result, "tea cup") == ["Empty tea", "Other"]
