-- Queries whose contexts a report shows: all of at most 500, or five of each relation and query type.
-- The five are the most and the least susceptible query and the three quartiles, by mean susceptibility over models.
-- view
-- needs: queries, susceptibility
WITH means AS (
    SELECT relation, query_id, avg(susceptibility::DECIMAL(38, 18))::DOUBLE AS mean
    FROM susceptibility
    GROUP BY relation, query_id
),
ranked AS (
    SELECT
        q.relation, q.query_type, q.form, q.query_id, q.entity, q.invented, q.answer, q."text",
        row_number() OVER (of_type ORDER BY means.mean DESC, q.query_id) AS place,
        count(*) OVER of_type AS places, count(*) OVER () AS queries
    FROM queries AS q
    JOIN means USING (relation, query_id)
    WINDOW of_type AS (PARTITION BY q.relation, q.query_type)
)
SELECT *
FROM ranked
WHERE queries <= 500 OR place IN (1, 1 + (places - 1) // 4, 1 + (places - 1) // 2, 1 + (places - 1) * 3 // 4, places)
ORDER BY relation, query_type DESC, place
