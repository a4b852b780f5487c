-- Which relations does a context sway most? Mean susceptibility of their queries, in nats.
SELECT model, dtype, relation, query_type, count(*) AS queries, round(avg(susceptibility), 4) AS susceptibility
FROM susceptibility_of_queries
GROUP BY model, dtype, relation, query_type
ORDER BY avg(susceptibility) DESC
LIMIT 20
