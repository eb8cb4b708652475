"""Agents: policies that map observations to actions, and the loop that plays an episode."""
