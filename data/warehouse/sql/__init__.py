"""What is asked of the database: the schema's text, and named questions, one file each, named after what it returns."""
