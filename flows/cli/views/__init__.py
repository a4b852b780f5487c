"""What commands show of results: status, differences, audits, comparisons, lists of what there is."""
