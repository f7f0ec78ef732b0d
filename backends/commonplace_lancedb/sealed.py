"""Arrow tables in files that are mapped into memory, and checked before they are used.

A file is an Arrow file and a seal: format, length and checksum. What was cut off, overwritten in
part or made by another version does not fit its seal.
"""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

FORMAT = 1
"""Of the files and of what is in them; one of another format is not read."""

_SEAL = struct.Struct("<8sIIQ")
"""A name, the format, the CRC-32 of the Arrow file, and its length in bytes."""

_NAME = b"cprows\r\n"


def write(path: str, table: pa.Table, notes: Mapping[str, bytes]) -> None:
    """Let ``path`` be ``table`` with ``notes``, for this user alone, or leave it as it was.

    Its folder has to exist. Raises ``OSError`` or what Arrow raises.
    """
    import pyarrow as pa

    draft = f"{path}.{os.getpid()}"
    noted = table.replace_schema_metadata({name.encode(): text for name, text in notes.items()})
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600))
        with pa.OSFile(draft, "wb") as sink, pa.ipc.new_file(sink, noted.schema) as writer:
            writer.write_table(noted)
        with pa.memory_map(draft) as source:
            seal = _seal_of(source.read_buffer())
        with open(draft, "ab") as file:
            file.write(seal)
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def read(path: str) -> tuple[pa.Table, dict[str, bytes]]:
    """The table at ``path``, whose columns are the pages of the file, and its notes.

    Raises ``ValueError`` for what is not whole or of another format, and ``OSError``.
    """
    import pyarrow as pa

    with pa.memory_map(path) as source:
        whole = source.read_buffer()
    length = whole.size - _SEAL.size
    if length < 0 or whole.slice(length).to_pybytes() != _seal_of(whole.slice(0, length)):
        raise ValueError(f"{path} is not whole, or of another format")
    table = pa.ipc.open_file(whole.slice(0, length)).read_all()
    notes = {name.decode(): text for name, text in (table.schema.metadata or {}).items()}
    return table.replace_schema_metadata(None), notes


def _seal_of(arrow: pa.Buffer) -> bytes:
    from zlib import crc32

    return _SEAL.pack(_NAME, FORMAT, crc32(arrow), arrow.size)
