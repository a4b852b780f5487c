"""Tables: columns with types, meanings and units. A table checks rows, and computes their digest."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from swaymeter.data.digests import sha256_of_all

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: its name.
        type: its SQL type.
        meaning: its meaning.
        unit: unit of its numbers.
        nullable: True if it may be NULL.
        in_digest: True if it is part of the table's digest. Times and addresses of retrieval are not, so that results
            stay valid if the same rows are fetched again.
        parts: the columns within a STRUCT column, whose values are rows; empty for other columns.
    """

    name: str
    type: str
    meaning: str
    unit: str = ""
    nullable: bool = False
    in_digest: bool = True
    parts: tuple["Column", ...] = ()


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        name: its name.
        row: the description of a row, such as "a complete query".
        columns: its columns.
        key: the columns of its primary key.
    """

    name: str
    row: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()

    @cached_property
    def schema(self) -> "pa.Schema":
        """The table's columns as an Arrow schema."""
        import pyarrow as pa  # a local import, because scoring imports row types on machines without Arrow

        return pa.schema([pa.field(c.name, _arrow(c.type, c.parts), nullable=c.nullable) for c in self.columns])

    def digest(self, rows: "pa.Table") -> str:
        """Return the digest (hex) of rows of this table, over the columns with `in_digest`."""
        return table_digest(rows.select([c.name for c in self.columns if c.in_digest]))

    def of(self, rows: Sequence[Mapping[str, Any]]) -> "pa.Table":
        """Return the rows as an Arrow table; ValueError for wrong columns or types, forbidden NULL, NaN or infinity."""
        import pyarrow as pa
        import pyarrow.compute as pc

        names = {c.name for c in self.columns}
        for row in rows:
            if row.keys() != names:
                differences = {"lacks the columns": names - row.keys(), "has unknown columns": row.keys() - names}
                message = " and ".join(f"{verb} {sorted(wrong)}" for verb, wrong in differences.items() if wrong)
                raise ValueError(f"table {self.name}: a row {message}")
        columns = [self._array(field, [row[name] for row in rows]) for name, field in self._fields.items()]
        arrow_table = pa.Table.from_arrays(columns, schema=self.schema)
        arrow_table.validate(full=True)
        for column, values in zip(self.columns, columns, strict=True):
            if not column.nullable and values.null_count:
                raise ValueError(f"table {self.name}: {column.name} may not be NULL")
            if not all(pc.all(pc.is_finite(part), min_count=0).as_py() for part in _floating_parts(values)):
                raise ValueError(f"table {self.name}: {column.name} is NaN or infinite in a row")
        return arrow_table

    @cached_property
    def _fields(self) -> Mapping[str, "pa.Field"]:
        return {field.name: field for field in self.schema}

    def _array(self, field: "pa.Field", values: Sequence[Any]) -> "pa.Array":
        import pyarrow as pa

        try:
            array = pa.array(values, field.type)
            if pa.types.is_integer(_innermost_element(field.type)):
                # Arrow silently cuts fractions off; a cast from the inferred type raises an error.
                inferred = pa.array(values)
                if not pa.types.is_integer(_innermost_element(inferred.type)):
                    inferred.cast(array.type)
        except (pa.ArrowException, OverflowError, UnicodeError) as error:
            raise ValueError(f"table {self.name}: {field.name}: {error}") from error
        return array


def _floating_parts(values: "pa.Array") -> Iterator["pa.Array"]:
    """Yield the arrays of floating-point numbers in an array, its lists and its structs."""
    import pyarrow as pa

    if pa.types.is_list(values.type):
        yield from _floating_parts(values.flatten())
    elif pa.types.is_struct(values.type):
        for part in values.flatten():
            yield from _floating_parts(part)
    elif pa.types.is_floating(values.type):
        yield values


def table_digest(rows: "pa.Table") -> str:
    """Return the SHA-256 (hex) of a table's columns and values, in the order of its rows."""
    columns = (buffer for column in rows.columns for buffer in _canonical(column.chunks, column.type))
    return sha256_of_all(chain([f"{rows.schema.remove_metadata()} {rows.num_rows}"], columns))


def _canonical(chunks: Sequence["pa.Array"], kind: "pa.DataType") -> Iterator[Any]:
    """Yield a column's bytes, independent of its layout in Arrow: first its NULLs, then lengths, then values.

    The chunks of a column stay apart, because a copy of all of them may not fit into memory.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    yield from (_bytes(chunk.is_valid()) if chunk.null_count else b"\1" * len(chunk) for chunk in chunks)
    present = [chunk.drop_null() if chunk.null_count else chunk for chunk in chunks]
    if pa.types.is_list(kind):
        yield from (_bytes(pc.list_value_length(chunk)) for chunk in present)
        yield from _canonical([chunk.flatten() for chunk in present], kind.value_type)
    elif pa.types.is_struct(kind):
        fields_of_chunks = [chunk.flatten() for chunk in present]
        for index, field in enumerate(kind):
            yield from _canonical([fields[index] for fields in fields_of_chunks], field.type)
    elif pa.types.is_string(kind):
        yield from (_bytes(pc.binary_length(chunk)) for chunk in present)
        for chunk in present:
            _, offsets, characters = chunk.buffers()
            if characters is not None and len(chunk):
                bounds = memoryview(offsets).cast("i")[chunk.offset : chunk.offset + len(chunk) + 1]
                yield memoryview(characters)[bounds[0] : bounds[-1]]
    else:
        yield from map(_bytes, present)


def _bytes(values: "pa.Array") -> bytes:
    return bytes(values.to_numpy(zero_copy_only=False).tobytes())


def _innermost_element(kind: "pa.DataType") -> "pa.DataType":
    import pyarrow as pa

    while pa.types.is_list(kind):
        kind = kind.value_type
    return kind


def _arrow(sql: str, parts: tuple[Column, ...]) -> "pa.DataType":
    import pyarrow as pa

    if sql.endswith("[]"):
        return pa.list_(_arrow(sql.removesuffix("[]"), parts))
    if parts:
        return pa.struct([(part.name, _arrow(part.type, part.parts)) for part in parts])
    return {"VARCHAR": pa.string(), "DOUBLE": pa.float64(), "BIGINT": pa.int64(), "BOOLEAN": pa.bool_()}[sql]
