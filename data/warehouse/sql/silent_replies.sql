-- Greedy replies that decide no threshold, by model and condition: empty ones, undecided ones, and missing ones.
-- Missing: a content filter withheld the reply, its thoughts did not end, the application failed, or a row of recorded
-- replies lacks it; such replies have no verdict.
SELECT
    answers.model, answers.dtype, answers.condition,
    count(*) AS replies,
    count(*) FILTER (WHERE answers.state IN ('withheld', 'unfinished_thoughts', 'failed', 'unrecorded')) AS missing,
    count(*) FILTER (WHERE answers.state NOT IN ('withheld', 'unfinished_thoughts', 'failed', 'unrecorded') AND trim(answers."text") = '') AS empty,
    count(*) FILTER (
        WHERE answers.state NOT IN ('withheld', 'unfinished_thoughts', 'failed', 'unrecorded') AND trim(answers."text") <> ''
        AND said.verdict IS NOT NULL AND said.decided_by IS NULL
    ) AS undecided
FROM answers
LEFT JOIN stated_answers AS said ON
    said.model = answers.model AND said.dtype = answers.dtype AND said.relation = answers.relation
    AND said.question_id = answers.question_id AND said.context_id = answers.context_id AND said.sample IS NULL
WHERE answers.sample IS NULL AND answers.state <> 'not_asked'
GROUP BY answers.model, answers.dtype, answers.condition
ORDER BY ALL
