# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import random

import pytest

from recdb.database import Database, TransactionError


def test_full_roll_back_after_release():
    db = Database()
    db.insert("t", 1, v=0)
    db.begin()
    db.update("t", 1, v=1)
    db.savepoint("a")
    db.update("t", 1, v=2)
    db.insert("t", 2, v=9)
    db.release("a")
    db.roll_back()
    assert db.all("t") == {1: {"v": 0}}


def test_release_takes_later_savepoints_along():
    db = Database()
    db.insert("t", 1, v=0)
    db.begin()
    db.savepoint("a")
    for name, value in (("b", 1), ("c", 2), ("d", 3)):
        db.savepoint(name)
        db.update("t", 1, v=value)
    db.release("b")
    with pytest.raises(LookupError):
        db.roll_back("c")
    assert db.get("t", 1) == {"v": 3}
    db.roll_back("a")
    assert db.get("t", 1) == {"v": 0}


def test_inserted_then_changed():
    db = Database()
    db.begin()
    db.savepoint("a")
    db.insert("t", 7, v=1)
    db.savepoint("b")
    db.update("t", 7, v=2)
    db.release("b")
    db.savepoint("c")
    db.delete("t", 7)
    db.release("c")
    db.roll_back("a")
    assert db.all("t") == {}


@pytest.mark.parametrize("seed", range(12))
def test_like_copies(seed):
    rng = random.Random(seed)
    db = Database()
    for number in range(4):
        db.insert("t", number, v=0)
    db.begin()
    copies = [(None, db.all("t"))]
    for step in range(120):
        action = rng.randrange(8)
        number = rng.randrange(5)
        if action == 0:
            copies.append(("s%d" % step, db.all("t")))
            db.savepoint(copies[-1][0])
        elif action == 1 and len(copies) > 1:
            index = rng.randrange(1, len(copies))
            db.release(copies[index][0])
            del copies[index:]
        elif action == 2 and len(copies) > 1:
            index = rng.randrange(1, len(copies))
            db.roll_back(copies[index][0])
            del copies[index + 1:]
            assert db.all("t") == copies[index][1]
        elif number not in db.all("t"):
            db.insert("t", number, v=step)
        elif action == 3:
            db.delete("t", number)
        else:
            db.update("t", number, v=step)
    db.roll_back()
    assert db.all("t") == copies[0][1]


def test_same_name_twice():
    db = Database()
    db.begin()
    db.savepoint("a")
    db.insert("t", 1)
    db.savepoint("a")
    db.insert("t", 2)
    db.roll_back("a")
    assert list(db.all("t")) == [1]
    db.release("a")
    db.roll_back("a")
    assert list(db.all("t")) == []


def test_commit_ends():
    db = Database()
    db.begin()
    db.insert("t", 1)
    db.commit()
    with pytest.raises(TransactionError):
        db.roll_back()
    assert list(db.all("t")) == [1]
