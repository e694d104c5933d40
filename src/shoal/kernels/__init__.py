"""Hot loops: arrays in, arrays out. The only room that uses numba, and it knows no other room."""
