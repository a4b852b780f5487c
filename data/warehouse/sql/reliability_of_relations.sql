-- Variance of persuasion and of susceptibility between seeds or query forms, in each relation.
-- needs: reliability
SELECT *
FROM reliability
ORDER BY model, dtype, measure, over, query_type, relation
