-- Pearson's correlation of coherent persuasion with entropies, edits, reversions and page views,
-- by partition and pooled.
-- needs: instance_correlations
SELECT *
FROM instance_correlations
ORDER BY measure_b, measure_a, model, dtype, "partition", condition
