-- Greedy answers of a model that state neither answer, by the reason; `greedy_answers` are all that were judged.
SELECT model, dtype, sum(count(*)) OVER (PARTITION BY model, dtype)::BIGINT AS greedy_answers, reason, count(*) AS answers
FROM stated_answers
WHERE sample IS NULL
GROUP BY model, dtype, reason
QUALIFY reason IS NOT NULL
ORDER BY model, dtype, answers DESC, reason
