-- Optimisations that were switched off for a model, and why; a row for each.
-- needs: runs
SELECT DISTINCT model, dtype, unnest(string_split(reading, '; ')) AS reading
FROM runs
WHERE reading IS NOT NULL
ORDER BY ALL
