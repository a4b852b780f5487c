-- Each optimisation that was switched off for a model, and each failed check of a server, with the reason.
-- needs: runs
SELECT DISTINCT model, dtype, unnest(string_split(reading, '; ')) AS reading
FROM runs
WHERE reading IS NOT NULL
ORDER BY ALL
