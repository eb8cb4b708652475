"""How a model writes an action, and how an observation is written for it: tool calls or fenced text.

Sending requests does not belong here.
"""
