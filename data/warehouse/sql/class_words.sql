-- Every word that sets the questions and contexts of a class of semantic entropy apart, with its TF-IDF score.
SELECT *
FROM class_words
ORDER BY model, dtype, entropy_class, text_kind, "rank"
