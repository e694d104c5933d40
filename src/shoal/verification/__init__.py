"""Does what was published hold what was promised? Asked of the published text alone."""
