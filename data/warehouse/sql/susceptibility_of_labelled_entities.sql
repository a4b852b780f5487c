-- Every entity of a group, or pair, with its mean susceptibility over its queries of a type, under every model.
-- view
-- needs: susceptibility_of_labels
-- unit: susceptibility = nats
-- The sum is over decimals because threads add in any order, and doubles added in another order end in other digits.
SELECT
    model, dtype, relation, query_type, label, type, entity, count(*) AS queries,
    avg(susceptibility::DECIMAL(38, 18))::DOUBLE AS susceptibility
FROM susceptibility_of_labels
GROUP BY ALL
ORDER BY model, dtype, relation, query_type, label, entity
