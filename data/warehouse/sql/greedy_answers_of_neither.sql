-- Greedy answers with a context that state neither answer, by the reason; `greedy_answers` are all such that were judged.
SELECT model, dtype, sum(count(*)) OVER (PARTITION BY model, dtype)::BIGINT AS greedy_answers, reason, count(*) AS answers
FROM stated_answers
WHERE sample IS NULL AND condition <> 'none'
GROUP BY model, dtype, reason
QUALIFY reason IS NOT NULL
ORDER BY model, dtype, answers DESC, reason
