"""Named queries of the database: SQL files, each named after the result of its query."""
