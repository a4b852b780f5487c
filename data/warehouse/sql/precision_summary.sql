-- Differences of scores between a model's dtype and the reference dtype, with Spearman's correlation of susceptibility.
-- needs: summaries
SELECT
    s.model, s.dtype, s.query_type,
    s.n AS queries,
    s.mean AS mean_difference_of_susceptibility, s.largest AS largest_difference_of_susceptibility,
    c.spearman,
    p.mean AS mean_difference_of_persuasion, p.largest AS largest_difference_of_persuasion,
    s.unit
FROM summaries AS s
JOIN summaries AS p
    ON p.model = s.model AND p.dtype = s.dtype AND p.query_type = s.query_type
    AND p.quantity = 'difference_of_persuasion'
LEFT JOIN correlations AS c
    ON c.model = s.model AND c.dtype = s.dtype AND c.query_type = s.query_type
    AND c.measure_a = 'susceptibility_reference'
WHERE s.quantity = 'difference_of_susceptibility'
ORDER BY ALL
