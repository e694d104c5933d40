"""Tables larger than memory in Spark: a session of ours on this machine or a cluster, or the user's.

The only package that imports pyspark. Rows are Arrow batches that Spark stores and moves as bytes
(`packages.py`), and the work on them is functions of ours that run in the executors (`row_work.py`,
`value_counts.py`, `folders.py`), so `shoal` must be installed there too. A query that none of these
answers is SQL, on frames (`tables.py`). `session.py` decides which.
"""
