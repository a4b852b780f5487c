"""Wikipedia, Wikidata, their histories and page views, and Wembedder, which was trained on Wikidata."""
