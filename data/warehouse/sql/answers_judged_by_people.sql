-- Numbers of a model's greedy answers, of the answers that a person judged (`judged`), and of those that the rule
-- judged otherwise.
-- needs: stated_answers
SELECT
    model, dtype, count(*) AS greedy_answers, count(judgement) AS judged,
    count(judgement) FILTER (WHERE judgement IS NOT NULL AND verdict <> rule) AS changed
FROM stated_answers
WHERE sample IS NULL
GROUP BY model, dtype
HAVING judged > 0
ORDER BY model, dtype
