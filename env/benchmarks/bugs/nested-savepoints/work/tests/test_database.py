# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from recdb.database import Database, TransactionError


def database():
    db = Database()
    db.insert("items", 1, name="tea", stock=5)
    db.insert("items", 2, name="jam", stock=9)
    return db


def test_roll_back_everything():
    db = database()
    db.begin()
    db.update("items", 1, stock=4)
    db.delete("items", 2)
    db.insert("items", 3, name="oil")
    db.savepoint("a")
    db.update("items", 1, stock=3)
    db.roll_back()
    assert db.all("items") == {1: {"name": "tea", "stock": 5}, 2: {"name": "jam", "stock": 9}}


def test_roll_back_to_savepoint():
    db = database()
    db.begin()
    db.update("items", 1, stock=4)
    db.savepoint("a")
    db.update("items", 1, stock=3)
    db.roll_back("a")
    db.commit()
    assert db.get("items", 1)["stock"] == 4


def test_released_savepoint():
    db = database()
    db.begin()
    db.savepoint("a")
    db.update("items", 1, stock=4)
    db.savepoint("b")
    db.update("items", 1, stock=3)
    db.release("b")
    db.roll_back("a")
    assert db.get("items", 1)["stock"] == 5


def test_no_transaction():
    with pytest.raises(TransactionError):
        database().savepoint("a")
