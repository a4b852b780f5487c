-- Shares of greedy replies with citations or a named conflict, and mean persuasion of passages, with 95% intervals.
-- needs: summaries
SELECT
    model, dtype, quantity, group_values[1] AS "of", group_values[2] AS "position", n, items AS clusters, mean, low, high,
    interval_over, unit
FROM summaries
WHERE quantity IN ('cites', 'cited_exist', 'citation_right', 'names_conflict', 'passage_persuasion')
    AND grouped_by IN (['condition'], ['kind', 'position'])
ORDER BY ALL
