"""An MCP server for agents: the command ``commonplace mcp``."""
