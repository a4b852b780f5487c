-- Cost of each variant: tokens of a greedy reply with thoughts, and seconds of a prompt with all replies.
-- `neither_with_wrong` counts greedy replies to conflicting contexts that state neither answer. A reply has at least
-- one token, its end. If a server does not send the tokens, their number is NULL.
-- needs: answers, variants
-- unit: seconds_a_prompt = s
WITH greedy AS (
    SELECT model, dtype, avg(nullif(len(token_ids) + len(thought_ids), 0)) AS tokens_an_answer, count(*) AS answers
    FROM answers
    WHERE sample IS NULL
    GROUP BY model, dtype
),
spent AS (
    SELECT variant, sum(seconds) / nullif(sum(prompts), 0) AS seconds_a_prompt
    FROM runs
    WHERE measure = 'answers'
    GROUP BY variant
),
silent AS (
    SELECT
        model, dtype, count(*) AS answers_with_wrong, count(*) FILTER (WHERE verdict = 'neither') AS neither_with_wrong
    FROM stated_answers
    WHERE sample IS NULL AND condition = 'conflicting'
    GROUP BY model, dtype
)
SELECT
    greedy.model, greedy.dtype, v.asked_model, v.prompt_name, greedy.answers, greedy.tokens_an_answer,
    spent.seconds_a_prompt, coalesce(silent.answers_with_wrong, 0) AS answers_with_wrong,
    coalesce(silent.neither_with_wrong, 0) AS neither_with_wrong
FROM greedy
JOIN variants AS v USING (model, dtype)
LEFT JOIN silent USING (model, dtype)
LEFT JOIN spent ON spent.variant = v.variant
ORDER BY ALL
