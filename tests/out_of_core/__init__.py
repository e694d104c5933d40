"""Tables larger than memory: the same release as in memory."""
