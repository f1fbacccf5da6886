"""The embedded cortex: an MCP server over standard input and output that stores memories in one file.

Its 15 tools, their parameters and their texts are those of claude-cortex-core, so that a client of the one is a client
of the other. It differs in four points: ``remember`` always stores, only ``forget`` deletes, titles and queries may
contain any text, and a shortened text says how to get the rest.
"""
