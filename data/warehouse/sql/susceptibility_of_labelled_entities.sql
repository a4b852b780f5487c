-- Each labelled entity or pair, with the mean susceptibility of its queries of a type, under each model.
-- view
-- needs: susceptibility_of_labels
-- unit: susceptibility = nats
-- Sums are over decimals: sums of doubles depend on the order of the threads.
SELECT
    model, dtype, relation, query_type, label, type, entity, count(*) AS queries,
    avg(susceptibility::DECIMAL(38, 18))::DOUBLE AS susceptibility
FROM susceptibility_of_labels
GROUP BY ALL
ORDER BY model, dtype, relation, query_type, label, entity
