"""The host's side of the terminal: typing, waiting, and rendering the screen as text."""
