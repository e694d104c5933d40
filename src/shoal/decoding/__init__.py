"""Labels of a release turned back into values, ranges and sets that programs compute with."""
