"""Plans: the contract of a kernel before there is code, as numbers, and a skeleton that keeps it."""
