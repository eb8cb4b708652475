"""Known ways to cheat, one file each in `cheats/`: none may be `resolved`, none an error."""
