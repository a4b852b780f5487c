-- One row: how much was asked, scored and answered, and what it took.
-- The measures of a family come from one pass and carry its cost each: it is counted once a family.
WITH passes AS (
    SELECT max(runs.seconds) AS seconds, max(runs.forward_passes) AS forward_passes
    FROM runs
    JOIN measures ON measures.name = runs.measure
    GROUP BY runs.relation, runs.model, runs.dtype, runs.seed, measures.family
)
SELECT
    (SELECT count(DISTINCT model) FROM scored) AS models,
    (SELECT count(*) FROM (SELECT relation FROM queries UNION SELECT relation FROM questions)) AS relations,
    (SELECT count(*) FROM queries) AS queries,
    (SELECT count(*) FROM contexts) AS contexts,
    (SELECT count(*) FROM persuasion) AS prompts,
    (SELECT count(*) FROM questions) AS questions,
    (SELECT count(*) FROM answers) AS answers,
    (SELECT coalesce(sum(seconds), 0) FROM passes) AS seconds,
    (SELECT coalesce(sum(forward_passes), 0)::BIGINT FROM passes) AS forward_passes
