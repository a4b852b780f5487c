-- Numbers of each model's greedy replies: all, judged by a person, and judged otherwise by the rule (`changed`).
-- A model without a person's judgement has no row.
-- needs: stated_answers
SELECT
    model, dtype, count(*) AS greedy_answers, count(judgement) AS judged,
    count(judgement) FILTER (WHERE judgement IS NOT NULL AND verdict <> rule) AS changed
FROM stated_answers
WHERE sample IS NULL
GROUP BY model, dtype
HAVING judged > 0
ORDER BY model, dtype
