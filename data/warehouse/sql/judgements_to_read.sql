-- Each judgement of a person, with the number of replies that it decides, and `unused`: why it does not count.
-- `unused` is NULL for a judgement that counts. Choices and corrections count when questions are built; for them, NULL
-- says only that the row is valid.
-- needs: judgements
WITH counted AS (
    SELECT judgement, count(*) AS answers FROM decided_answers WHERE judgement IS NOT NULL GROUP BY judgement
),
asked_questions AS (SELECT question_id, question FROM questions SEMI JOIN answers USING (relation, question_id))
SELECT
    judged.* EXCLUDE (problem), coalesce(counted.answers, 0) AS answers,
    CASE
        WHEN judged.problem IS NOT NULL THEN judged.problem
        WHEN counted.answers > 0 OR judged.field NOT IN ('verdict', 'kind') THEN NULL
        WHEN NOT EXISTS (FROM asked_questions WHERE judged.question_id IN (asked_questions.question_id, asked_questions.question))
            THEN 'no such question was asked'
        WHEN judged.context_id <> 'none' AND NOT EXISTS (
            FROM asked_questions JOIN question_contexts AS contexts USING (question_id)
            WHERE judged.question_id IN (asked_questions.question_id, asked_questions.question)
                AND (contexts.context_id = judged.context_id
                    OR (judged.field = 'kind' AND contains(contexts.text, nullif(judged.judged, ''))))
        ) THEN 'the question has no such context'
        WHEN judged.field = 'verdict' THEN 'no answer has these words, or a more specific verdict counts for it'
    END AS unused
FROM judgements AS judged
LEFT JOIN counted ON counted.judgement = judged.number
ORDER BY judged.number
