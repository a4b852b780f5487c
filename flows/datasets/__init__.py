"""What people do with a study's data beside running it: judge its questions, export them, look into a graph."""
