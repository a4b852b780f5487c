"""What is known: records, catalog, sources, workspace, warehouse. Imports no other package of the project."""
