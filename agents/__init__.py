"""Agents, one file or folder each, and `episode`, the referee that runs one episode with an agent."""
