"""Cards: a board as a folder of tables from which a stranger derives every number again. Boards themselves are core."""
