-- The words that distinguish the questions and contexts of each class of semantic entropy, the largest TF-IDF first.
-- needs: class_words
SELECT
    model, dtype, entropy_class, text_kind, max(texts_of_class) AS texts_of_class, max("rank") AS words_shown,
    string_agg(word, ' ' ORDER BY "rank") AS words
FROM class_words
GROUP BY model, dtype, entropy_class, text_kind
ORDER BY model, dtype, entropy_class, text_kind
