-- The five most and the five least susceptible labelled entities or pairs, by model, set of contexts and query type.
-- needs: susceptibility_of_labelled_entities
-- unit: susceptibility = nats
SELECT
    model, dtype, relation, query_type,
    row_number() OVER (of_type ORDER BY susceptibility DESC, entity) AS "rank", count(*) OVER of_type AS entities,
    entity, label, type, queries, susceptibility
FROM susceptibility_of_labelled_entities
WINDOW of_type AS (PARTITION BY model, dtype, relation, query_type)
QUALIFY "rank" <= 5 OR "rank" > entities - 5
ORDER BY model, dtype, relation, query_type DESC, "rank"
