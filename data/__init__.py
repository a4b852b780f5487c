"""Data of studies: records, catalog, sources, workspace, warehouse. Imports no other package of the project."""
