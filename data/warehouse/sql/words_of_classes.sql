-- The words that set the questions and contexts of each class of semantic entropy apart, by TF-IDF, the first ones first.
-- needs: class_words
SELECT
    model, dtype, entropy_class, text_kind, max(of_texts) AS of_texts, max("rank") AS words_shown,
    string_agg(word, ' ' ORDER BY "rank") AS words
FROM class_words
GROUP BY model, dtype, entropy_class, text_kind
ORDER BY model, dtype, entropy_class, text_kind
