"""."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from koderz_core.exports.recording import LogFile, Recording


def write(recordings: Iterable[Recording]) -> Iterator[LogFile]:
    for recording in recordings:
        for configuration, label in recording.configurations():
            for transcript in recording.transcripts(configuration.id):
                yield LogFile(f"{transcript.details.experiment.id}.json", label.encode())
