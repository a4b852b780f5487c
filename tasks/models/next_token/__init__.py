"""Next-token distributions of contexts x queries, exact, with every shared prefix computed once."""
