-- Each word that distinguishes the questions or contexts of a class of semantic entropy, with its TF-IDF score.
-- needs: class_words
SELECT *
FROM class_words
ORDER BY model, dtype, entropy_class, text_kind, "rank"
