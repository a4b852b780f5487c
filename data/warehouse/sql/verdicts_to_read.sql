-- Every verdict by hand, of how many answers it counts (`answers`), and why of none: NULL where it counts.
WITH counted AS (SELECT "row", count(*) AS answers FROM decided_answers WHERE "row" IS NOT NULL GROUP BY "row"),
asked AS (SELECT question_id, question FROM questions SEMI JOIN answers USING (relation, question_id))
SELECT
    hand.*, coalesce(counted.answers, 0) AS answers,
    CASE
        WHEN counted.answers > 0 THEN NULL
        WHEN NOT EXISTS (FROM asked WHERE hand.question IN (asked.question_id, asked.question))
            THEN 'no such question was asked'
        WHEN hand.context <> 'none' AND NOT EXISTS (
            FROM asked JOIN question_contexts AS contexts USING (question_id)
            WHERE hand.question IN (asked.question_id, asked.question) AND contexts.context_id = hand.context
        ) THEN 'the question has no such context'
        ELSE 'no answer has these words'
    END AS unused
FROM verdicts_by_hand AS hand
LEFT JOIN counted USING ("row")
ORDER BY hand."row"
