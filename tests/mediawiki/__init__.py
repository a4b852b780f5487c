"""Our clients and the search for disputes against a real MediaWiki; `make test-mediawiki` runs it."""
