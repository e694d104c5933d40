"""Values as codes: columns with their domains, rows as cells, groups of rows and their counts."""
