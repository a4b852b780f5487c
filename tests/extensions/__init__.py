"""The four modules that docs/extending.md shows, as somebody would write them."""
