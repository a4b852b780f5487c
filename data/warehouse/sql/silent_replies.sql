-- Numbers of silent greedy replies by model and condition: missing, empty and undecided replies.
-- A threshold is not met if only silent replies fulfil it. A missing reply has no verdict. A content filter withheld
-- it, its thoughts did not end, the application failed, or its recorded row is empty.
-- needs: answers
SELECT
    answers.model, answers.dtype, answers.condition,
    count(*) AS replies,
    count(*) FILTER (WHERE answers.state IN ('withheld', 'unfinished_thoughts', 'failed', 'unrecorded')) AS missing,
    count(*) FILTER (WHERE answers.state NOT IN ('withheld', 'unfinished_thoughts', 'failed', 'unrecorded') AND trim(answers."text") = '') AS empty,
    count(*) FILTER (
        WHERE answers.state NOT IN ('withheld', 'unfinished_thoughts', 'failed', 'unrecorded') AND trim(answers."text") <> ''
        AND verdicts.verdict IS NOT NULL AND verdicts.decided_by IS NULL
    ) AS undecided
FROM answers
LEFT JOIN stated_answers AS verdicts ON
    verdicts.model = answers.model AND verdicts.dtype = answers.dtype AND verdicts.relation = answers.relation
    AND verdicts.question_id = answers.question_id AND verdicts.context_id = answers.context_id AND verdicts.sample IS NULL
WHERE answers.sample IS NULL AND answers.state <> 'not_asked'
GROUP BY answers.model, answers.dtype, answers.condition
ORDER BY ALL
