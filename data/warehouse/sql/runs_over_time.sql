-- Every completed run: when it was, and how much was not so in the run before.
WITH counted AS (
    SELECT
        run,
        count(*) FILTER (WHERE kind = 'setting') AS settings_changed,
        count(*) FILTER (WHERE kind IN ('fact', 'question')) AS sources_changed,
        count(*) FILTER (WHERE kind = 'answer') AS answers_changed
    FROM changes_of_runs
    GROUP BY run
)
SELECT
    run, json_extract_string(state, '$.completed_at') AS completed_at, settings_changed, sources_changed, answers_changed,
    (SELECT count(*) FROM history AS h WHERE h.run = i.run) AS numbers,
    (SELECT count(*) FROM history AS h WHERE h.run = i.run AND h.verdict IN ('larger', 'smaller')) AS numbers_moved
FROM history_items AS i
LEFT JOIN counted USING (run)
WHERE kind = 'run'
ORDER BY run
