"""Privacy models: one file each, named as in a policy's constraint (`{k: 5}` is `k.py`)."""
