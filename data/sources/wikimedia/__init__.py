"""Clients for Wikipedia, Wikidata, their histories and page views, and for Wembedder, embeddings of Wikidata."""
