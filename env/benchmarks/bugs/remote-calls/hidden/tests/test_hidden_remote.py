# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import copy
import pickle

import pytest

from remote import Client, Server
from remote.errors import BankError, Frozen, NoSuchAccount, NotEnough


@pytest.fixture
def bank():
    client = Client(Server().handle)
    client.open("bob")
    client.deposit("bob", 30)
    return client


def test_attributes_arrive(bank):
    with pytest.raises(NotEnough) as caught:
        bank.withdraw("bob", 100)
    error = caught.value
    assert type(error) is NotEnough
    assert (error.name, error.wanted, error.available, error.missing) == ("bob", 100, 30, 70)


def test_frozen(bank):
    bank.freeze("bob")
    with pytest.raises(Frozen) as caught:
        bank.withdraw("bob", 10)
    assert str(caught.value) == "bob is frozen"
    assert (caught.value.wanted, caught.value.available) == (10, 0)


@pytest.mark.parametrize("error", [NotEnough("x", 5, 2), Frozen("x", 5), Frozen("x", 5, 4), NoSuchAccount("x"), BankError("a", 1)])
@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_copies(error, way):
    other = way(error)
    assert type(other) is type(error)
    assert str(other) == str(error)
    assert vars(other) == vars(error)


def test_copy_twice():
    once = pickle.loads(pickle.dumps(NotEnough("x", 9, 1)))
    twice = pickle.loads(pickle.dumps(once))
    assert str(twice) == "x has 1, 8 less than wanted"


def test_other_errors(bank):
    with pytest.raises(BankError) as caught:
        bank.deposit("bob", "much")
    assert "TypeError" in str(caught.value)
    assert bank.balance("bob") == 30
