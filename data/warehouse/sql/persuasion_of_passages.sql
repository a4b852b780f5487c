-- The persuasion of each passage within its context, with its place: alone, first, middle or last.
-- Contexts that did not fit the model's window are left out, with the passage or without it.
SELECT
    moved.model, moved.dtype, moved.relation, moved.question_id, moved.context_id, moved.condition,
    coalesce(questions.subject_id, nullif(questions.subject, ''), moved.question_id) AS subject_key,
    coalesce(moved.kind, 'unknown') AS kind,
    CASE
        WHEN moved.passages = 1 THEN 'alone'
        WHEN moved.passage = 1 THEN 'first'
        WHEN moved.passage = moved.passages THEN 'last'
        ELSE 'middle'
    END AS "position",
    moved.passage_persuasion
FROM passage_persuasion AS moved
JOIN questions USING (relation, question_id)
WHERE moved.context_cut = 0 AND moved.context_cut_without = 0
ORDER BY ALL
