-- Greedy answers of a model that are empty, missing or reached the limit of tokens, `tokens`; and how it was asked to think.
SELECT
    model, dtype,
    count(*) AS greedy_answers,
    count(*) FILTER (WHERE NOT finished AND NOT answers.unfinished_thoughts AND NOT answers.withheld) AS unfinished,
    nullif(max(len(token_log_probs)) FILTER (WHERE NOT finished AND NOT answers.withheld), 0) AS "tokens",
    count(*) FILTER (WHERE answers.unfinished_thoughts) AS unfinished_thoughts,
    count(*) FILTER (WHERE answers.withheld) AS withheld,
    count(*) FILTER (WHERE trim("text") = '' AND NOT answers.unfinished_thoughts AND NOT answers.withheld) AS empty,
    string_agg(DISTINCT thinking, '; ' ORDER BY thinking) AS thinking
FROM answers
WHERE sample IS NULL
GROUP BY model, dtype
HAVING unfinished > 0 OR empty > 0 OR bool_or(answers.unfinished_thoughts OR answers.withheld) OR count(thinking) > 0
ORDER BY model, dtype
