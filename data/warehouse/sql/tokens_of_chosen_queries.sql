-- Likeliest next tokens after each chosen query, alone and with its most and least persuasive contexts, if measured.
-- needs: chosen_queries, likeliest_tokens
SELECT t.model, t.dtype, t.relation, t.query_id, t.context_id, t."rank", t.token, t.probability
FROM likeliest_tokens AS t
SEMI JOIN chosen_queries USING (relation, query_id)
ORDER BY t.relation, t.query_id, t.context_id, t.model, t.dtype, t."rank"
