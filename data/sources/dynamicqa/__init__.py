"""The published DynamicQA: its three files read, judged by their rules, and written."""
