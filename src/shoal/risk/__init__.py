"""Disclosure risk: who stands out in a table, by which columns, and what an attacker learns."""
