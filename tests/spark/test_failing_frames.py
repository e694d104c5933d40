"""An error inside of a user's frame is reported in our words, and quotes no row."""

import pytest

import shoal
from shoal.engines.spark.failures import quiet
from shoal.engines.spark.session import SparkTables
from shoal.errors import InputError

POLICY = {"columns": {"age": "quasi", "ill": "sensitive"}, "constraints": [{"k": 2}], "seed": 1}


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_frame_that_cannot_be_computed(session: SparkTables) -> None:
    with quiet():
        from pyspark.sql import functions as f
        from pyspark.sql.types import StringType

    def broken(value: int) -> str:
        raise ValueError(f"c4nary {value}")

    rows = session._spark.range(20).select(f.col("id").alias("age"))
    with quiet():
        by_python = rows.withColumn("ill", f.udf(broken, StringType())("age"))
    by_spark = rows.withColumn("ill", f.expr("CAST(concat('c4nary', age) AS INT)"))
    for frame, what in ((by_python, "ValueError"), (by_spark, "CAST_INVALID_INPUT")):
        with pytest.raises(InputError, match=rf"could not compute the frame.*\({what}\)") as caught:
            shoal.anonymize(frame, POLICY)
        assert "c4nary" not in str(caught.value)
        assert caught.value.__cause__ is None
