-- Greedy answers of a model, how many of them a person judged (`judged`), and of how many the rule said something else.
SELECT
    model, dtype, count(*) AS greedy_answers, count(judgement) AS judged,
    count(judgement) FILTER (WHERE judgement IS NOT NULL AND verdict <> rule) AS changed
FROM stated_answers
WHERE sample IS NULL
GROUP BY model, dtype
HAVING judged > 0
ORDER BY model, dtype
