-- What was computed when, in which precision, with which versions?
SELECT
    model, dtype, measure,
    count(*) AS files, sum("rows")::BIGINT AS "rows",
    min(started_at) AS first_started, max(finished_at) AS last_finished,
    string_agg(DISTINCT torch_version, ', ' ORDER BY torch_version) AS torch,
    string_agg(DISTINCT transformers_version, ', ' ORDER BY transformers_version) AS transformers
FROM runs
GROUP BY model, dtype, measure
ORDER BY first_started, model, dtype, measure
