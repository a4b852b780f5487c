"""SQL of the database: its schema, and named queries, one file each, named after their results."""
