-- Numbers of a model's greedy replies that did not end with a text, by the end of the reply.
-- `empty` includes calls of tools. `tokens`: the limit of tokens. `thinking`: the model's setting for thoughts.
-- `errors`: the ten most frequent errors of an application, each with its number of replies.
-- needs: answers
WITH failures AS (
    SELECT
        model, dtype, regexp_replace(error, '^.*? failed: | \(question .*\)$', '', 'gs') AS reason, count(*) AS replies,
        row_number() OVER (PARTITION BY model, dtype ORDER BY count(*) DESC, reason) AS place
    FROM answers
    WHERE sample IS NULL AND error IS NOT NULL
    GROUP BY model, dtype, reason
),
failures_of_models AS (
    SELECT model, dtype, string_agg(reason || ' (' || replies || ')', '; ' ORDER BY place) AS errors
    FROM failures
    WHERE place <= 10
    GROUP BY model, dtype
)
SELECT
    answers.model, answers.dtype,
    count(*) AS greedy_answers,
    count(*) FILTER (WHERE state = 'truncated') AS unfinished,
    nullif(max(len(token_log_probs)) FILTER (WHERE state = 'truncated'), 0) AS "tokens",
    count(*) FILTER (WHERE trim("text") = '' AND state NOT IN ('withheld', 'unfinished_thoughts', 'failed', 'unrecorded', 'not_asked')) AS empty,
    count(*) FILTER (WHERE state = 'tool_call') AS tool_calls,
    count(*) FILTER (WHERE state = 'unfinished_thoughts') AS unfinished_thoughts,
    count(*) FILTER (WHERE state = 'withheld') AS withheld,
    count(*) FILTER (WHERE state = 'failed') AS failed,
    count(*) FILTER (WHERE state = 'unrecorded') AS unrecorded,
    any_value(failures_of_models.errors) AS errors,
    string_agg(DISTINCT thinking, '; ' ORDER BY thinking) AS thinking
FROM answers
LEFT JOIN failures_of_models USING (model, dtype)
WHERE sample IS NULL AND state <> 'not_asked'
GROUP BY answers.model, answers.dtype
HAVING bool_or(state <> 'complete') OR count(thinking) > 0
ORDER BY answers.model, answers.dtype
