-- Each greedy reply to a context of an evidence set, with positions, lengths and dates of right and wrong passages.
-- Contexts that exceed the model's window are left out, because some of their passages may be unread.
-- Positions count from 1. If a kind has several passages, the first counts; without a passage of the kind, NULL.
-- Dates are NULL if the prompt has no dates.
-- needs: answers, questions, stated_answers
-- unit: right_length = characters
-- unit: wrong_length = characters
WITH contexts AS (
    SELECT relation, question_id, subject, subject_id, unnest(contexts) AS context FROM questions
),
evidence AS (
    SELECT
        relation, question_id, coalesce(subject_id, nullif(subject, ''), question_id) AS subject_key,
        context.context_id, context.evidence_set, len(context.passages) AS passages,
        list_transform(context.passages, lambda passage: len(passage."text")) AS lengths,
        CASE WHEN contains(context.form, '{date}') THEN list_transform(context.passages, lambda passage: passage."date") END
            AS dates,
        nullif(list_position(list_transform(context.passages, lambda passage: passage.kind), 'supporting'), 0)::BIGINT
            AS right_at,
        nullif(list_position(list_transform(context.passages, lambda passage: passage.kind), 'conflicting'), 0)::BIGINT
            AS wrong_at
    FROM contexts
    WHERE context.evidence_set IS NOT NULL
)
SELECT
    answers.model, answers.dtype, evidence.relation, evidence.question_id, evidence.subject_key, evidence.context_id, answers.condition,
    evidence.evidence_set, evidence.passages, evidence.right_at, evidence.wrong_at,
    evidence.lengths[evidence.right_at] AS right_length, evidence.lengths[evidence.wrong_at] AS wrong_length,
    evidence.dates[evidence.right_at] AS right_date, evidence.dates[evidence.wrong_at] AS wrong_date,
    answers.verdict
FROM stated_answers AS answers
JOIN evidence USING (relation, question_id, context_id)
JOIN answers AS replies USING (model, dtype, relation, question_id, context_id)
WHERE answers.sample IS NULL AND replies.sample IS NULL AND replies.context_cut = 0
ORDER BY ALL
