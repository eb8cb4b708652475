"""What an operator does to runs: pause, retune, retry."""
