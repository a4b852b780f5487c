-- How many greedy answers of a model reached the limit of tokens before they ended, of how many; `tokens` is the limit.
SELECT
    model, dtype,
    count(*) AS greedy_answers,
    count(*) FILTER (WHERE NOT finished) AS unfinished,
    max(len(token_log_probs)) FILTER (WHERE NOT finished) AS "tokens"
FROM answers
WHERE sample IS NULL
GROUP BY model, dtype
HAVING unfinished > 0
ORDER BY model, dtype
