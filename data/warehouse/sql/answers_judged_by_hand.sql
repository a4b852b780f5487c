-- Greedy answers of a model, how many of them a person judged (`by_hand`), and of how many the rule said something else.
SELECT
    model, dtype, count(*) AS greedy_answers, count("row") AS by_hand,
    count("row") FILTER (WHERE "row" IS NOT NULL AND verdict <> rule) AS changed
FROM stated_answers
WHERE sample IS NULL
GROUP BY model, dtype
HAVING by_hand > 0
ORDER BY model, dtype
