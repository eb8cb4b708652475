"""Change in as few coins as possible."""

COINS = (200, 100, 50, 20, 10, 5, 2, 1)


def change(cents: int) -> list[int]:
    """Return the coins that make up an amount, the largest first."""
    coins = []
    for coin in COINS:
        while cents >= coin:
            coins.append(coin)
            cents = cents - coin
    return coins
