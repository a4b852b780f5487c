-- Greedy answers of a model that reached the limit of tokens, `tokens`, or never got past their thoughts; how it thinks.
SELECT
    model, dtype,
    count(*) AS greedy_answers,
    count(*) FILTER (WHERE NOT finished AND NOT answers.unfinished_thoughts) AS unfinished,
    max(len(token_log_probs)) FILTER (WHERE NOT finished) AS "tokens",
    count(*) FILTER (WHERE answers.unfinished_thoughts) AS unfinished_thoughts,
    string_agg(DISTINCT thinking, '; ' ORDER BY thinking) AS thinking
FROM answers
WHERE sample IS NULL
GROUP BY model, dtype
HAVING unfinished > 0 OR count(*) FILTER (WHERE answers.unfinished_thoughts) > 0 OR count(thinking) > 0
ORDER BY model, dtype
