"""Methods: one file each, named as in a policy (`least-loss-partition` is `least_loss_partition.py`)."""
