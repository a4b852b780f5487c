"""What is shown: figures, tables, the page. Imports `data` only; draws what the warehouse holds, computes nothing."""
