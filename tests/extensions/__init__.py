"""The modules that docs/extending.md shows, as somebody would write them."""
