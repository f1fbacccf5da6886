"""Memory: stores what experiments learned, adds lessons and examples to prompts, and serves MCP clients."""
