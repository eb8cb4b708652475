# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from remote import Client, Server
from remote.errors import BankError, NoSuchAccount, NotEnough


@pytest.fixture
def bank():
    client = Client(Server().handle)
    client.open("ann")
    client.open("bob")
    client.deposit("ann", 500)
    return client


def test_transfer(bank):
    assert bank.transfer("ann", "bob", 200) == 200
    assert bank.balance("ann") == 300


def test_no_such_account(bank):
    with pytest.raises(NoSuchAccount) as caught:
        bank.balance("eve")
    assert caught.value.name == "eve"


def test_unknown_method(bank):
    with pytest.raises(BankError):
        bank.rob("ann")


def test_not_enough(bank):
    with pytest.raises(NotEnough) as caught:
        bank.withdraw("ann", 700)
    assert str(caught.value) == "ann has 500, 200 less than wanted"
