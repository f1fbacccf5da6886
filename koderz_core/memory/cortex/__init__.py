"""The embedded cortex: a memory server that speaks MCP over its standard streams and keeps everything in one file.

Its 15 tools, their parameters and their texts are those of claude-cortex-core, so that a client of the one is a client
of the other. What differs: ``remember`` always stores, nothing is ever deleted but by ``forget``, any text is fine in
titles and queries, and whatever is not shown in full says so and how to get it.
"""
