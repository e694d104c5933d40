"""Releases in frames, decoded into a frame of the same kind."""

from typing import Any

import numpy as np
import pyarrow as pa

from shoal.decoding.decoder import Choice, Decoder, decoded_table
from shoal.decoding.files import decode_source
from shoal.engines.files import wrap
from shoal.engines.sessions import is_spark
from shoal.errors import InputError
from shoal.io.address import Place
from shoal.io.arrow import one_chunk
from shoal.io.csv_dialect import DETECT, CsvOptions
from shoal.io.frames import FrameTable
from shoal.io.rich_frames import frame_of_columns
from shoal.policy import Policy


def decode_release(
    release: Any, policy: Policy, choice: Choice, options: CsvOptions = DETECT
) -> tuple[Any, list[str]]:
    """A frame decoded into one of its kind, or a file into an Arrow table; and notes on its columns."""
    choice.check()
    if is_spark(release):
        raise InputError(
            "A Spark frame is not decoded in place. Decode the folder that the release was written to "
            "with decode_file, or pass release.table.toArrow()."
        )
    if isinstance(release, Place):
        table, decoder = decode_source(release, policy, choice, options)
        return table, decoder.notes
    frame, decoder = decode_frame(release, policy, choice)
    return frame, decoder.notes


def decode_frame(native: Any, policy: Policy, choice: Choice) -> tuple[Any, Decoder]:
    """A frame decoded, and the decoder with what became of its columns."""
    table = wrap(native)
    given = pa.table({name: table.column(name) for name in table.names})
    decoder = Decoder(policy, choice, given.schema)
    new = decoded_table(given, decoder)
    if not isinstance(table, FrameTable):
        columns = {name: one_chunk(new.column(name)) for name in new.column_names}
        return table.release(new.column_names, columns, np.arange(new.num_rows), False), decoder
    kept = [name for name in table.names if not decoder.changes(name)]
    closed = {
        name: found.closed
        for found in decoder.columns.values()
        if found.closed is not None
        for name in found.columns
    }
    sampled = [name for one in decoder.outcome() if one.is_sampled for name in one.columns]
    return frame_of_columns(table, new, kept, closed, {"sampled": sampled}), decoder
