"""The recorded program as a graph: which component waits for which, and how people reach a service."""
