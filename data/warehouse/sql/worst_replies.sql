-- The three worst greedy replies to a user's questions: by turns, a repeated wrong and an ignored right passage.
-- Each reply is to another question. Among repetitions, right closed-book replies come first; among ignored passages,
-- undecided replies come last.
-- needs: answers, question_contexts, questions, stated_answers
WITH replies AS (
    SELECT
        verdicts.model, verdicts.dtype, verdicts.relation, verdicts.question_id, verdicts.context_id, verdicts.condition, verdicts.verdict,
        verdicts.decided_by, verdicts.reason, closed_book.verdict = 'original' AS known,
        verdicts.condition <> 'supporting' AS repeats
    FROM stated_answers AS verdicts
    LEFT JOIN stated_answers AS closed_book ON
        closed_book.model = verdicts.model AND closed_book.dtype = verdicts.dtype AND closed_book.relation = verdicts.relation
        AND closed_book.question_id = verdicts.question_id AND closed_book.condition = 'none' AND closed_book.sample IS NULL
    WHERE
        verdicts.sample IS NULL AND (
            verdicts.condition IN ('conflicting', 'mixed') AND verdicts.verdict = 'context'
            OR verdicts.condition = 'supporting' AND verdicts.verdict NOT IN ('context', 'both')
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
    picked.decided_by, picked.reason, picked.repeats, coalesce(picked.known, false) AS known
FROM picked
JOIN questions USING (relation, question_id)
JOIN question_contexts AS contexts USING (relation, question_id, context_id)
JOIN answers AS replies ON
    replies.sample IS NULL AND replies.model = picked.model AND replies.dtype = picked.dtype
    AND replies.relation = picked.relation AND replies.question_id = picked.question_id
    AND replies.context_id = picked.context_id
ORDER BY picked.place, picked.repeats DESC
LIMIT 3
