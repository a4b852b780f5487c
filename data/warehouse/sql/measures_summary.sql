-- Means over relations of measures beside susceptibility, and how exact they are.
-- needs: summaries
SELECT model, dtype, quantity AS measure, query_type, n, mean, median, unit
FROM summaries
WHERE
    relation = 'all' AND grouped_by = [] AND quantity IN (
        'fisher', 'fisher_top_k', 'relative_standard_error_of_fisher', 'answer_set_susceptibility', 'mass',
        'semantic_entropy_standard_error', 'coherent_persuasion_standard_error'
    )
ORDER BY ALL
