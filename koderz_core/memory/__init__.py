"""Memory: cortex, where experiments leave what they learned and any MCP client can look it up."""
