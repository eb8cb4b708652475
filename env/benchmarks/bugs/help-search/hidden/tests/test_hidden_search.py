# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import random

import pytest

from helpsearch.index import Index
from helpsearch.score import TITLE_BONUS, frequency, term_score
from helpsearch.search import search
from helpsearch.score import score
from helpsearch.text import terms


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


def test_order_of_many_articles():
    chance = random.Random(4)
    words = ["tea", "cup", "water", "kettles", "milk", "the", "pouring"]
    for _ in range(80):
        found = Index()
        for number in range(chance.randint(1, 6)):
            title = " ".join(chance.choice(words) for _ in range(chance.randint(0, 2)))
            found.add(f"{title} {number}", " ".join(chance.choice(words) for _ in range(chance.randint(0, 9))))
        query = " ".join(chance.choice(words) for _ in range(chance.randint(1, 3)))
        wanted, points = list(dict.fromkeys(terms(query))), {}
        for article in found.articles:
            total = matched = 0
            for term in wanted:
                count = article.counts.get(term, 0)
                weight = count / (count + 1 + article.length / 100) + (2 if term in article.title_terms else 0)
                total += weight * found.rarity(term)
                matched += bool(weight)
            points[article.title] = total * matched / len(wanted) if wanted else 0
            assert score(found, article, wanted) == pytest.approx(points[article.title])
        titles = [article.title for article in found.articles if points[article.title] > 0]
        result = search(found, query, 99)
        assert sorted(result) == sorted(titles)
        assert all(points[one] >= points[other] - 1e-9 for one, other in zip(result, result[1:]))


def test_equal_articles_in_the_order_they_were_added():
    found = Index()
    for title in ("Zebra", "Milk", "Ant"):
        found.add(title, "tea pot" if title != "Milk" else "cow")
    assert search(found, "TEA teas") == ["Zebra", "Ant"]
    assert search(found, "the") == search(found, "") == []


def test_words_that_are_parts_of_others():
    chance = random.Random(11)
    words = ["art", "start", "party", "tea", "team", "steal", "ink", "think", "inkpot", "ten", "of", "often"]
    for _ in range(60):
        found = Index()
        for _ in range(chance.randint(1, 5)):
            title, body = ([chance.choice(words) for _ in range(chance.randint(0, most))] for most in (3, 8))
            sign = chance.choice([" ", ", ", "-", "_"])
            found.add(sign.join(title).upper(), sign.join(body))
        for article in found.articles:
            for term in ["art", "start", "tea", "team", "ink", "ten", "st", "t", "of", "of often", ""]:
                bonus = 2 if term in set(article.title_terms) else 0
                assert term_score(article, term) == pytest.approx(frequency(article, term) + bonus)
        for word in ("art", "tea", "ink", "ten", "st"):
            having = [article.title for article in found.articles if word in {*article.counts, *article.title_terms}]
            if len(having) < len(found.articles) or len(having) == 1:
                assert sorted(search(found, word)) == sorted(having)
