"""Wikipedia, Wikidata, their histories and page views, and Wembedder, which was made of Wikidata."""
