"""Servers: the language server for editors and the server of tools for agents."""
