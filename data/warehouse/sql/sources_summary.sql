-- Sources and licences of facts and questions by relation, with numbers of rows and times of retrieval.
SELECT 'facts' AS what, relation, source, licence, count(*) AS "rows", min(retrieved_at) AS first, max(retrieved_at) AS last
FROM facts
GROUP BY ALL
UNION ALL
SELECT 'questions', relation, source, licence, count(*), min(retrieved_at), max(retrieved_at)
FROM questions
GROUP BY ALL
ORDER BY ALL
