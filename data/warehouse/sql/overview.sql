-- One row with the study's totals: models, relations, queries, contexts, prompts, questions, replies, and cost.
-- If several measures share a pass, only the first has its cost, so that the sum counts the cost once.
SELECT
    (SELECT count(DISTINCT model) FROM scored) AS models,
    (SELECT count(*) FROM (SELECT relation FROM queries UNION SELECT relation FROM questions)) AS relations,
    (SELECT count(*) FROM queries) AS queries,
    (SELECT count(*) FROM contexts) AS contexts,
    (SELECT coalesce(sum(prompts), 0)::BIGINT FROM runs) AS prompts,
    (SELECT count(*) FROM questions) AS questions,
    (SELECT count(*) FROM answers) AS answers,
    (SELECT coalesce(sum(seconds), 0) FROM runs) AS seconds,
    (SELECT coalesce(sum(forward_passes), 0)::BIGINT FROM runs) AS forward_passes
