-- Is a model more easily swayed about what it has never heard of? Real against invented entities, in nats.
SELECT
    model, dtype, query_type,
    round(avg(susceptibility) FILTER (invented), 4) AS invented,
    round(avg(susceptibility) FILTER (NOT invented), 4) AS "real",
    round(avg(susceptibility) FILTER (invented) - avg(susceptibility) FILTER (NOT invented), 4) AS difference
FROM susceptibility_of_queries
GROUP BY model, dtype, query_type
ORDER BY model, dtype, query_type
