"""The grids of plans whose skeletons have to agree with them."""
