"""Large tables in Spark: a session of ours on this machine or a cluster, or one the user has.

The only place that imports pyspark. Spark keeps and moves the rows; what is done with them is SQL, or
functions of ours on Arrow batches that run in the executors, so `shoal` must be installed there too.
"""
