-- Each passage of a context, with its persuasion and its position: alone, first, middle or last.
-- Contexts that exceed the model's window, with the passage or without it, are left out.
-- needs: passage_persuasion, questions
SELECT
    effects.model, effects.dtype, effects.relation, effects.question_id, effects.context_id, effects.condition,
    coalesce(questions.subject_id, nullif(questions.subject, ''), effects.question_id) AS subject_key,
    coalesce(effects.kind, 'unknown') AS kind,
    CASE
        WHEN effects.passages = 1 THEN 'alone'
        WHEN effects.passage = 1 THEN 'first'
        WHEN effects.passage = effects.passages THEN 'last'
        ELSE 'middle'
    END AS "position",
    effects.passage_persuasion
FROM passage_persuasion AS effects
JOIN questions USING (relation, question_id)
WHERE effects.context_cut = 0 AND effects.context_cut_without = 0
ORDER BY ALL
