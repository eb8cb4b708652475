"""Lengths of years."""


def days(year: int) -> int:
    """Return the number of days of a year of the Gregorian calendar."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 366 if leap else 365
