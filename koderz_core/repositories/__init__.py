"""The map of a repository, made by reading its files and asking git; and the files that matter for a task."""

from koderz_core.repositories.relevance import relevant_files
from koderz_core.repositories.repository_map import map_repository

__all__ = ["map_repository", "relevant_files"]
