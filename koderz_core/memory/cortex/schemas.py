"""The names and parameters of the 15 tools as JSON Schema (draft 7): the contract with clients.

Names, parameters, types, choices, bounds and defaults are those of claude-cortex-core, so that its clients work
unchanged. The descriptions are koderz' own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

Schema = Mapping[str, object]

Category = Literal[
    "architecture", "pattern", "preference", "error", "context", "learning", "todo", "note", "relationship", "custom"
]
Type = Literal["short_term", "long_term", "episodic"]
CATEGORIES: tuple[Category, ...] = get_args(Category)
TYPES: tuple[Type, ...] = get_args(Type)
DRAFT = "http://json-schema.org/draft-07/schema#"


def _of(kind: str, description: str, **more: object) -> dict[str, object]:
    return {"type": kind, "description": description, **more}


def _choice(description: str, *choices: str, **more: object) -> dict[str, object]:
    return {"type": "string", "enum": list(choices), "description": description, **more}


def _flag(description: str, **more: object) -> dict[str, object]:
    return _of("boolean", description, **more)


def _takes(*required: str, **properties: Schema) -> Schema:
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False, "$schema": DRAFT}


_SCOPE = _of("string", 'Project to search; the active one by default, "*" for all projects.')
_OWNER = _of("string", 'Project of the memory; the active one by default, "*" for all projects.')
_ID = _of("number", "Id of a memory, as remember and recall return it.")
_TAGS = {"type": "array", "items": {"type": "string"}}

INPUTS: Mapping[str, Schema] = MappingProxyType(
    {
        "remember": _takes(
            "title",
            "content",
            title=_of("string", "A short title. Any characters; it need not be unique."),
            content=_of("string", "The whole text. It is stored in full or refused."),
            category=_choice("Category of the memory; by default guessed from its words.", *CATEGORIES),
            type=_choice("How long the memory matters; by default derived from its importance.", *TYPES),
            project=_OWNER,
            tags={**_TAGS, "description": "Tags, stored unchanged."},
            importance=_choice(
                "How much it matters; by default derived from its category.",
                "low",
                "normal",
                "high",
                "critical",
            ),
            scope=_choice("Visible in its project only (default) or in every project.", "project", "global"),
            transferable=_flag("Whether the memory is useful in other projects too."),
            metadata=_of("object", "Other facts, as a JSON object.", additionalProperties={}),
        ),
        "recall": _takes(
            query=_of("string", "Words to search for, any characters. Rare words select, common words rank."),
            category=_choice("Only of this kind.", *CATEGORIES),
            type=_choice("Only of this type.", *TYPES),
            project=_SCOPE,
            tags={**_TAGS, "description": "Only with at least one of these tags."},
            limit=_of("number", "Maximum number of memories.", minimum=1, maximum=50, default=10),
            includeDecayed=_flag("Also return memories that have decayed because they were not used.", default=False),
            includeGlobal=_flag("Also return memories that are visible in every project.", default=True),
            mode=_choice("Order: by match, time or importance.", "search", "recent", "important", default="search"),
        ),
        "forget": _takes(
            id=_of("number", "Only the memory with this id."),
            query=_of("string", "Only memories that contain every word of this."),
            category=_choice("Only of this kind.", *CATEGORIES),
            project=_SCOPE,
            olderThan=_of("number", "Only memories older than this number of days."),
            belowSalience=_of("number", "Only memories with a lower salience than this.", minimum=0, maximum=1),
            dryRun=_flag("Show what would be deleted, but delete nothing.", default=False),
            confirm=_flag("Required to delete more than one memory.", default=False),
        ),
        "get_context": _takes(
            project=_SCOPE,
            query=_of("string", "Topic of the current work."),
            format=_choice("Short excerpts, long excerpts, or JSON.", "summary", "detailed", "raw", default="summary"),
        ),
        "start_session": _takes(project=_SCOPE),
        "end_session": _takes(
            "sessionId",
            sessionId=_of("number", "Number that start_session returned."),
            summary=_of("string", "Result of the session."),
        ),
        "consolidate": _takes(
            force=_flag("Has no effect: a request always runs.", default=False),
            dryRun=_flag("Show what would change, but change nothing.", default=False),
        ),
        "memory_stats": _takes(project=_SCOPE),
        "get_memory": _takes("id", id=_ID),
        "export_memories": _takes(project=_SCOPE),
        "import_memories": _takes("data", data=_of("string", "Text that export_memories returned.")),
        "get_related": _takes("id", id=_ID),
        "link_memories": _takes(
            "sourceId",
            "targetId",
            "relationship",
            sourceId=_of("number", "Id of the memory from which the link starts."),
            targetId=_of("number", "Id of the memory to which the link leads."),
            relationship=_choice(
                "Relationship of the first to the second.", "references", "extends", "contradicts", "related"
            ),
            strength=_of("number", "Strength of the link.", minimum=0, maximum=1, default=0.5),
        ),
        "set_project": _takes("project", project=_of("string", 'A project, or "*" for all projects.')),
        "get_project": {"type": "object", "properties": {}, "$schema": DRAFT},
    }
)

DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "remember": "Store one memory, even if it resembles another. It is on file when this returns.",
        "recall": "Find memories by words, time or importance. Returns excerpts; get_memory returns one in full.",
        "forget": "Delete one memory by id or, with confirm, all that meet every criterion. No other tool deletes.",
        "get_context": "The most important memories of a project: decisions, patterns, errors, lessons, to do, recent.",
        "start_session": "Start a session and get the context of the project.",
        "end_session": "End a session, store its summary, and consolidate.",
        "consolidate": "Promote memories that were recalled often, and let unused ones decay. Deletes nothing.",
        "memory_stats": "The number of memories by type and category, and the limits of the server.",
        "get_memory": "One memory in full, with its metadata.",
        "export_memories": "All memories of a project in full, as JSON.",
        "import_memories": "Store the memories of an export: all, or none if one is invalid.",
        "get_related": "The links from and to a memory.",
        "link_memories": "Link one memory to another.",
        "set_project": "Change the active project of this client.",
        "get_project": "The active project, and what set it.",
    }
)
