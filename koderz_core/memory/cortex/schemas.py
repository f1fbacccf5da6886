"""What the 15 tools are called and take, as JSON Schema (draft 7): the contract with clients.

Names, parameters, types, choices, bounds and defaults are those of claude-cortex-core, whose clients must find what
they know; the descriptions are koderz' own.
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


_SCOPE = _of("string", 'Project that is looked at; the active one if left out, "*" for all projects.')
_OWNER = _of("string", 'Project it belongs to; the active one if left out, "*" for all projects.')
_ID = _of("number", "Id of a memory, as remember and recall tell it.")
_TAGS = {"type": "array", "items": {"type": "string"}}

INPUTS: Mapping[str, Schema] = MappingProxyType(
    {
        "remember": _takes(
            "title",
            "content",
            title=_of("string", "A short title; any characters, and it need not be unique."),
            content=_of("string", "The whole text; it is kept in full, or refused."),
            category=_choice("What kind of thing it is; guessed from the words if left out.", *CATEGORIES),
            type=_choice("How long it matters; from its importance if left out.", *TYPES),
            project=_OWNER,
            tags={**_TAGS, "description": "Tags, kept as they are."},
            importance=_choice(
                "How much it matters; from its category if left out.", "low", "normal", "high", "critical"
            ),
            scope=_choice("Who finds it: its project (default) or every project.", "project", "global"),
            transferable=_flag("Whether it holds in other projects too."),
            metadata=_of("object", "Anything else, as a JSON object.", additionalProperties={}),
        ),
        "recall": _takes(
            query=_of("string", "Words to look for, any characters. Rare words find, common ones rank."),
            category=_choice("Only of this kind.", *CATEGORIES),
            type=_choice("Only of this type.", *TYPES),
            project=_SCOPE,
            tags={**_TAGS, "description": "Only with at least one of these tags."},
            limit=_of("number", "How many at most.", minimum=1, maximum=50, default=10),
            includeDecayed=_flag("Also those that were not used for long.", default=False),
            includeGlobal=_flag("Also what every project may find.", default=True),
            mode=_choice("By words, by time or by importance.", "search", "recent", "important", default="search"),
        ),
        "forget": _takes(
            id=_of("number", "Only the memory with this id."),
            query=_of("string", "Only those that hold every word of this."),
            category=_choice("Only of this kind.", *CATEGORIES),
            project=_SCOPE,
            olderThan=_of("number", "Only those older than so many days."),
            belowSalience=_of("number", "Only those less salient than this.", minimum=0, maximum=1),
            dryRun=_flag("Tell what would be deleted, and delete nothing.", default=False),
            confirm=_flag("Needed to delete more than one.", default=False),
        ),
        "get_context": _takes(
            project=_SCOPE,
            query=_of("string", "What is being worked on."),
            format=_choice("Beginnings, longer beginnings, or JSON.", "summary", "detailed", "raw", default="summary"),
        ),
        "start_session": _takes(project=_SCOPE),
        "end_session": _takes(
            "sessionId",
            sessionId=_of("number", "Number that start_session told."),
            summary=_of("string", "What came of it."),
        ),
        "consolidate": _takes(
            force=_flag("Has no effect here: whoever asks is obeyed.", default=False),
            dryRun=_flag("Tell what would change, and change nothing.", default=False),
        ),
        "memory_stats": _takes(project=_SCOPE),
        "get_memory": _takes("id", id=_ID),
        "export_memories": _takes(project=_SCOPE),
        "import_memories": _takes("data", data=_of("string", "What export_memories wrote.")),
        "get_related": _takes("id", id=_ID),
        "link_memories": _takes(
            "sourceId",
            "targetId",
            "relationship",
            sourceId=_of("number", "Id of the memory that the link starts from."),
            targetId=_of("number", "Id of the memory that it leads to."),
            relationship=_choice("What the first is to the second.", "references", "extends", "contradicts", "related"),
            strength=_of("number", "How strong the link is.", minimum=0, maximum=1, default=0.5),
        ),
        "set_project": _takes("project", project=_of("string", 'A project, or "*" for all of them.')),
        "get_project": {"type": "object", "properties": {}, "$schema": DRAFT},
    }
)

DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "remember": "Store one memory. It is always stored, however like another, and kept when this answers.",
        "recall": "Find memories by words, time or importance. Shows beginnings: get_memory shows one in full.",
        "forget": "Delete one memory by id, or, with confirm, all that meet every criterion. Nothing else deletes.",
        "get_context": "What matters most of a project: decisions, patterns, errors, lessons, to do, new.",
        "start_session": "Begin a session and get the context of the project.",
        "end_session": "End a session, keep its summary, and consolidate.",
        "consolidate": "Promote what was recalled often, let decay what was not. Deletes nothing.",
        "memory_stats": "How many memories there are, of which kinds, and what the limits are.",
        "get_memory": "One memory in full, with its metadata.",
        "export_memories": "All memories of a project in full, as JSON.",
        "import_memories": "Add the memories of an export: all, or none if one is wrong.",
        "get_related": "What a memory is linked to, and what is linked to it.",
        "link_memories": "Link one memory to another.",
        "set_project": "Change the active project of this client.",
        "get_project": "The active project, and where it comes from.",
    }
)
