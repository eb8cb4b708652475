# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from bill import bill, parse
from bill.calls import MAY
from bill.countries import COUNTRIES
from bill.numbers import plausible, written
from bill.rates import RATES


def test_countries_of_the_bill() -> None:
    made = bill(MAY)
    assert made.countries == {'AU': 494, 'BE': 816, 'BR': 92, 'CA': 3922, 'CH': 1073, 'CL': 2397, 'CN': 1389, 'CO': 873, 'CZ': 1680, 'DE': 266, 'DK': 1104, 'DZ': 3612, 'EE': 2452, 'EG': 237, 'ES': 1824, 'FI': 348, 'FR': 1996, 'GB': 1289, 'GE': 3828, 'GH': 2114, 'GR': 208, 'HK': 423, 'HR': 100, 'HU': 4582, 'ID': 1332, 'IE': 2262, 'IL': 1542, 'IN': 2703, 'IQ': 1341, 'IS': 444, 'IT': 2289, 'JO': 591, 'JP': 1502, 'KE': 640, 'KR': 3881, 'KW': 2564, 'KZ': 1792, 'LB': 1308, 'LI': 3063, 'LK': 2847, 'LT': 412, 'LU': 1441, 'MA': 2320, 'MD': 265, 'ME': 1185, 'MK': 3074, 'MT': 1846, 'MY': 975, 'NG': 2112, 'NL': 2974, 'NO': 720, 'NP': 3103, 'NZ': 1692, 'PE': 1121, 'PH': 117, 'PK': 1161, 'PL': 1696, 'PT': 1594, 'QA': 2374, 'RO': 52, 'RS': 10, 'SA': 684, 'SE': 1859, 'SG': 1584, 'SI': 922, 'SK': 2266, 'SN': 2280, 'TH': 2502, 'TN': 2331, 'TR': 5193, 'TW': 2190, 'TZ': 813, 'UA': 1148, 'UG': 4018, 'UY': 3123, 'VE': 906, 'VN': 342, 'ZA': 350, 'ZM': 2880, 'ZW': 1363}
    assert (made.calls, made.free) == (330, 0)


def test_every_rate_has_its_country() -> None:
    assert set(RATES) == set(COUNTRIES) and len(COUNTRIES) == 85


@pytest.mark.parametrize(
    "code, letters, name",
    [
        ("420", "CZ", "Czechia"),
        ("385", "HR", "Croatia"),
        ("7", "KZ", "Kazakhstan"),
        ("423", "LI", "Liechtenstein"),
        ("381", "RS", "Serbia"),
        ("46", "SE", "Sweden"),
        ("65", "SG", "Singapore"),
        ("386", "SI", "Slovenia"),
        ("421", "SK", "Slovakia"),
        ("1", "CA", "Canada"),
    ],
)
def test_codes(code: str, letters: str, name: str) -> None:
    number = parse(f"+{code}5123456")
    assert number.country == letters and COUNTRIES[letters].name == name
    assert written(number) == f"+{code} 5123456"
    assert plausible(number)


def test_nobody_is_called_for_nothing() -> None:
    for letters, country in COUNTRIES.items():
        made = bill([("2031-05-01", f"+{country.code}5123456", 60, True)])
        assert made.total > 0 and made.free == 0, letters
