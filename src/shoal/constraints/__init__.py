"""Several `<columns, K>` constraints on one table: the theory behind the Classfly+ family."""
