-- Greedy answers of a model by how they ended, of those that did not end with a text; `tokens`: the limit of tokens; and
-- how the model was asked to think. Empty ones include calls of tools. `error`: an example of an application's errors.
SELECT
    model, dtype,
    count(*) AS greedy_answers,
    count(*) FILTER (WHERE state = 'truncated') AS unfinished,
    nullif(max(len(token_log_probs)) FILTER (WHERE state = 'truncated'), 0) AS "tokens",
    count(*) FILTER (WHERE trim("text") = '' AND state NOT IN ('withheld', 'unfinished_thoughts', 'failed', 'unrecorded', 'not_asked')) AS empty,
    count(*) FILTER (WHERE state = 'tool_call') AS tool_calls,
    count(*) FILTER (WHERE state = 'unfinished_thoughts') AS unfinished_thoughts,
    count(*) FILTER (WHERE state = 'withheld') AS withheld,
    count(*) FILTER (WHERE state = 'failed') AS failed,
    count(*) FILTER (WHERE state = 'unrecorded') AS unrecorded,
    any_value(answers.error) AS error,
    string_agg(DISTINCT thinking, '; ' ORDER BY thinking) AS thinking
FROM answers
WHERE sample IS NULL AND state <> 'not_asked'
GROUP BY model, dtype
HAVING bool_or(state <> 'complete') OR count(thinking) > 0
ORDER BY model, dtype
