# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from owners import Book, by_country
from owners.report import by_owner


@pytest.mark.parametrize(
    "address, name",
    [
        ("5.35.192.1", "Willow-18"),
        ("5.35.207.255", "Willow-18"),
        ("5.35.208.1", "Fjord-19"),
        ("5.35.215.255", "Fjord-19"),
        ("5.35.216.1", "Lumen-20"),
        ("5.35.216.255", "Lumen-20"),
        ("5.35.218.1", "Juniper-21"),
        ("5.35.219.255", "Juniper-21"),
        ("5.35.220.1", "Kestrel-22"),
        ("5.35.221.255", "Kestrel-22"),
        ("5.35.224.1", "Quarry-23"),
        ("5.35.231.255", "Quarry-23"),
        ("5.35.240.1", "Cobalt-24"),
        ("5.35.255.255", "Cobalt-24"),
        ("5.8.0.1", "Meridian-00"),
        ("5.8.3.255", "Meridian-00"),
        ("5.8.112.1", "Meridian-05"),
        ("5.8.127.255", "Meridian-05"),
        ("5.102.160.1", "Umber-41"),
        ("5.102.175.255", "Umber-41"),
        ("5.36.2.1", "Sable-25"),
        ("5.36.3.255", "Sable-25"),
    ],
)
def test_owner(address: str, name: str) -> None:
    network = Book().owner(address)
    assert network is not None and network.name == name


def test_no_two_networks_overlap() -> None:
    networks = list(Book())
    assert len(networks) == 430
    assert all(one.last < other.first for one, other in zip(networks, networks[1:]))


def test_addresses_of_countries() -> None:
    assert by_country(Book()) == {'CH': 165632, 'DE': 150528, 'ES': 143872, 'FR': 138496, 'IT': 136448, 'NL': 142592, 'PL': 183552, 'SE': 110336}


def test_what_is_free() -> None:
    free = Book().free()
    assert all(network.size == network.last - network.first + 1 for network in Book())
    assert len(free) == 273
    assert free[0] == ("5.8.4.0", "5.8.31.255")


def test_addresses_of_nobody_are_counted_as_such() -> None:
    lines = ["2031-03-02 10:00:01 DROP src=5.8.4.0 port=22", "2031-03-02 10:00:01 DROP src=5.35.192.0 port=22"]
    assert by_owner(Book(), lines) == {"nobody": 1, "Willow-18": 1}
