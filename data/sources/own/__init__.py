"""Users' data in CSV, JSONL or Parquet files: questions with contexts; facts and contexts of relations."""
