"""The published DynamicQA: its three files are read, checked by the publishers' rules, and written."""
