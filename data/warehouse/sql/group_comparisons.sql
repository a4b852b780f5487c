-- Each test of two groups of entities, of two sets of contexts, or of two labels or strengths of contexts.
-- needs: group_comparisons
SELECT *
FROM group_comparisons
ORDER BY model, dtype, measure DESC, comparison, "within", relation, query_type DESC, group_a, group_b
