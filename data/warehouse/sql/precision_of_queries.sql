-- Each sampled query with its susceptibility in the model's dtype and in the reference dtype, in nats.
-- needs: precision, queries
SELECT
    p.model, p.dtype, p.relation, q.query_type, q.query_id,
    p.reference, p.susceptibility, p.susceptibility_reference, p.largest_difference, p.mean_difference
FROM "precision" AS p
JOIN queries AS q USING (relation, query_id)
ORDER BY p.model, p.dtype, p.relation, q.query_type, q.query_id
