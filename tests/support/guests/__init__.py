"""A guest that lies, for tests: recorded replies, and changes of them."""
