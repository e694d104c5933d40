"""Charts and pages that need no network: one look for everything that Shoal shows."""
