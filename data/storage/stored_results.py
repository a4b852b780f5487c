"""Stored verdicts of a judge and replies of an application, so that no case is judged or answered twice.

A case is what a judge or an application reads for one result. Each judge with its prompt, and each application, has a
file of JSON lines, one line for a case. A truncated or changed line, found by its checksum, counts as missing.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swaymeter.data.digests import content_key
from swaymeter.data.errors import WorkspaceError
from swaymeter.data.storage.notes import seal, unseal


class StoredResults:
    """The stored results of one judge or application, by case.

    Args:
        folder: the folder of the files; None stores results only in memory.
        source: the identity of the judge or application, such as name, revision, dtype and prompt of a judge.
    """

    def __init__(self, folder: Path | None, source: Mapping[str, Any]) -> None:
        self._file = folder / f"{content_key(source)[:32]}.jsonl" if folder else None
        self._by_case: dict[str, dict[str, Any]] = {}
        if self._file and self._file.is_file():
            for line in self._file.read_bytes().splitlines():
                try:
                    content = unseal(line)
                    self._by_case[content.pop("case")] = content
                except (ValueError, KeyError):
                    continue

    def __len__(self) -> int:
        return len(self._by_case)

    def get(self, case: object) -> Mapping[str, Any] | None:
        """Return the stored result of a case; None without one."""
        return self._by_case.get(content_key({"case": case}))

    def add(self, results: Mapping[Any, Mapping[str, Any]]) -> None:
        """Store results by their cases, and sync them to the disk.

        Raises:
            WorkspaceError: the file cannot be written.
        """
        new = {content_key({"case": case}): dict(result) for case, result in results.items()}
        self._by_case |= new
        if not self._file or not new:
            return
        # `seal` returns several lines; a case is one line.
        lines = (json.dumps(json.loads(seal({"case": case, **result}))) for case, result in new.items())
        # The text begins with a line end, because a killed run may have left an unfinished line.
        text = "\n" + "\n".join(lines) + "\n"
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("ab", buffering=0) as file:
                file.write(text.encode())
                os.fsync(file.fileno())
        except OSError as error:
            raise WorkspaceError(
                f"{self._file} cannot be written: {error.strerror or error}; choose another --workspace"
            ) from error
