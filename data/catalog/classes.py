"""The classes that relations join: what an entity is, and what a literal answer is."""

ENTITY_CLASSES = (
    "person", "fictionalCharacter",
    "film", "tvSeries", "book", "newspaper", "song", "production", "work",
    "musician", "performingGroup", "company", "organization", "recordLabel", "university", "airline",
    "airport", "country", "region", "city", "place", "mountain", "waterBody", "road", "celestialBody",
    "product", "material", "award", "degree", "event", "taxon", "language", "religion", "gender", "genre", "occupation",
)  # fmt: skip
LITERAL_CLASSES = ("date", "number", "quantity", "identifier", "text", "url")
CLASSES = ENTITY_CLASSES + LITERAL_CLASSES
