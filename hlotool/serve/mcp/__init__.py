"""A server of the Model Context Protocol: what hlotool's commands find, as tools for agents."""

from hlotool.serve.mcp.agent_server import make_server, serve

__all__ = ["make_server", "serve"]
