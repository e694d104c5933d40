"""The table as integers: domains, cells, and the groups that methods make of them."""
