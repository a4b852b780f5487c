-- Each completed run, with its time of completion and the numbers of items that changed since the run before.
-- needs: history
WITH counted AS (
    SELECT
        run,
        count(*) FILTER (WHERE kind = 'setting') AS settings_changed,
        count(*) FILTER (WHERE kind IN ('fact', 'question')) AS sources_changed,
        count(*) FILTER (WHERE kind = 'reply') AS replies_changed
    FROM changes_of_runs
    GROUP BY run
)
SELECT
    run, json_extract_string(state, '$.completed_at') AS completed_at, settings_changed, sources_changed, replies_changed,
    (SELECT count(*) FROM history AS h WHERE h.run = i.run AND h.kind = 'number') AS numbers,
    (SELECT count(*) FROM history AS h WHERE h.run = i.run AND h.direction IN ('larger', 'smaller')) AS numbers_moved
FROM history AS i
LEFT JOIN counted USING (run)
WHERE kind = 'run'
ORDER BY run
