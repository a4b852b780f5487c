-- Seconds of susceptibility and of Fisher susceptibility for the same queries on the same device, and their ratio.
-- `times_as_long` divides the seconds of susceptibility by the seconds of Fisher susceptibility. Relations whose
-- queries were scored on several devices are left out, because their seconds cannot be told apart.
-- needs: fisher_susceptibility, runs, susceptibility
-- unit: seconds_susceptibility = s
-- unit: seconds_fisher = s
WITH seconds AS (
    SELECT
        model, dtype, relation,
        sum(seconds::DECIMAL(38, 6)) FILTER (measure IN ('persuasion', 'susceptibility')) AS of_contexts,
        sum(seconds::DECIMAL(38, 6)) FILTER (measure = 'fisher_susceptibility') AS of_fisher,
        sum(prompts) FILTER (measure = 'persuasion') AS prompts
    FROM runs
    GROUP BY ALL
),
compared AS (
    SELECT
        s.model, s.dtype, s.relation, min(s.device) AS device,
        count(*) AS queries, min(s.contexts) AS fewest, max(s.contexts) AS most, min(f.draws) AS draws, min(f.top_k) AS top_k
    FROM susceptibility AS s
    JOIN fisher_susceptibility AS f USING (model, dtype, relation, query_id)
    GROUP BY s.model, s.dtype, s.relation
    HAVING min(s.device) = max(s.device) AND min(f.device) = max(f.device) AND min(s.device) = min(f.device)
)
SELECT
    model, dtype, device, count(*) AS relations, sum(queries)::BIGINT AS queries,
    min(fewest) AS fewest_contexts, max(most) AS most_contexts, min(top_k) AS top_k, min(draws) AS draws,
    sum(of_contexts)::DOUBLE AS seconds_susceptibility, sum(of_fisher)::DOUBLE AS seconds_fisher,
    (sum(of_contexts) / nullif(sum(of_fisher), 0))::DOUBLE AS times_as_long
FROM compared
JOIN seconds USING (model, dtype, relation)
WHERE prompts > 0 AND of_fisher > 0
GROUP BY ALL
ORDER BY ALL
