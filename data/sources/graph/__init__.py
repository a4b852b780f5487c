"""Knowledge graphs queried in SPARQL, at an endpoint or in a dump: YAGO's facts, names and degrees."""
