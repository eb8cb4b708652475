"""MCP (https://modelcontextprotocol.io): servers inside sandboxes as tools, and an episode as a server for any client.

The definition of a server in a specification belongs to the core, in `env/tools/servers.py`.
"""
