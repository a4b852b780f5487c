-- Means of Fisher and answer-set susceptibility over relations, of the answer set's probability,
-- and of standard errors.
-- The probability and the error of Fisher susceptibility are over queries, the other errors over questions.
-- needs: summaries
SELECT model, dtype, quantity AS measure, query_type, n, mean, median, unit
FROM summaries
WHERE
    relation = 'all' AND grouped_by = [] AND quantity IN (
        'fisher', 'fisher_top_k', 'relative_standard_error_of_fisher', 'answer_set_susceptibility', 'mass',
        'semantic_entropy_standard_error', 'coherent_persuasion_standard_error'
    )
ORDER BY ALL
