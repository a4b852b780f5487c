"""One's own questions: a CSV, JSONL or Parquet file with questions, answers and contexts."""
