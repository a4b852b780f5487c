-- The three worst greedy replies to a user's questions, each to another question: a wrong passage repeated, first where
-- the right answer was known without it, and a right passage ignored, undecided replies last.
WITH replies AS (
    SELECT
        said.model, said.dtype, said.relation, said.question_id, said.context_id, said.condition, said.verdict,
        said.decided_by, alone.verdict = 'original' AS known,
        said.condition <> 'supporting' AS repeats
    FROM stated_answers AS said
    LEFT JOIN stated_answers AS alone ON
        alone.model = said.model AND alone.dtype = said.dtype AND alone.relation = said.relation
        AND alone.question_id = said.question_id AND alone.condition = 'none' AND alone.sample IS NULL
    WHERE
        said.sample IS NULL AND (
            said.condition IN ('conflicting', 'mixed') AND said.verdict = 'context'
            OR said.condition = 'supporting' AND said.verdict NOT IN ('context', 'both')
        )
),
ranked AS (
    SELECT *, CASE WHEN repeats THEN IF(known, 1, 2) ELSE IF(decided_by IS NULL, 2, 1) END AS rank
    FROM replies
),
of_questions AS (
    SELECT *
    FROM ranked
    QUALIFY
        row_number() OVER (
            PARTITION BY relation, question_id ORDER BY rank, repeats DESC, model, dtype, context_id
        ) = 1
),
picked AS (
    SELECT *, row_number() OVER (PARTITION BY repeats ORDER BY rank, relation, question_id) AS place
    FROM of_questions
)
SELECT
    picked.model, picked.dtype, picked.question_id, questions.question, questions."object" AS right_answer,
    picked.context_id, picked.condition, contexts."text" AS passage, replies."text" AS reply, picked.verdict,
    picked.decided_by, picked.repeats, coalesce(picked.known, false) AS known
FROM picked
JOIN questions USING (relation, question_id)
JOIN question_contexts AS contexts USING (relation, question_id, context_id)
JOIN answers AS replies ON
    replies.sample IS NULL AND replies.model = picked.model AND replies.dtype = picked.dtype
    AND replies.relation = picked.relation AND replies.question_id = picked.question_id
    AND replies.context_id = picked.context_id
ORDER BY picked.place, picked.repeats DESC
LIMIT 3
