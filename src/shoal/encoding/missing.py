"""Missing values: blank texts, and codes such as `NA` or -9."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import Bools
from shoal.encoding.spelling import fold, fold_texts, is_blank


def is_missing(texts: pa.Array, codes: Sequence[str] = (), exact: bool = False) -> Bools:
    """(n,) whether each text is blank or one of the codes.

    A code is also found in another spelling, such as `na` or `-9.0`, unless spellings are `exact`.
    """
    found = is_blank(texts)
    if codes and exact:
        found = pc.or_(found, pc.is_in(texts.cast(pa.string()), pa.array(codes, pa.string())))
    elif codes:
        wanted = pa.array([fold(code) for code in codes], pa.string())
        found = pc.or_(found, pc.is_in(fold_texts(texts), wanted))
    return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)
