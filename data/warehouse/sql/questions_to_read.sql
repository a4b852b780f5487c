-- Each question that has replies, with its subject, its answers, their Wikidata ids, its edits and page views.
-- needs: answers, questions
SELECT
    question_id, relation, "partition",
    subject, subject_id, property_id, object, object_id, array_to_string(answers, '; ') AS accepted, replacement,
    question, other_columns,
    edits, subject_popularity, object_popularity
FROM questions
SEMI JOIN answers USING (relation, question_id)
ORDER BY relation, question_id
