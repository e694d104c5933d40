"""Tables larger than memory in Spark: a session of ours on this machine or a cluster, or the user's.

The only package that imports pyspark. Spark stores and moves the rows; the work on them is SQL, or
functions of ours on Arrow batches that run in the executors, so `shoal` must be installed there too.
"""
