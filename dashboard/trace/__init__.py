"""The page of one episode: its header, its steps as a timeline and a list, and one step in full."""
