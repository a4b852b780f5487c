-- Each context of each question with its condition, its text, and its stated answers as a JSON list.
-- view
-- needs: questions
SELECT
    relation, question_id, context.context_id, context.condition, context.evidence_set, context.passage_order,
    coalesce(
        context.written,
        array_to_string(list_transform(context.passages, lambda passage: passage."text"), chr(10) || chr(10))
    ) AS "text",
    to_json(context.answers)::VARCHAR AS answers
FROM (SELECT relation, question_id, unnest(contexts) AS context FROM questions)
