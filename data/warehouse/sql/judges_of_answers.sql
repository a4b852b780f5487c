-- How many undecided greedy answers each judge was asked about, on how many it gave no verdict, and why.
-- needs: judged_answers
SELECT
    model, dtype, judge, count(*) AS asked, count(*) FILTER (WHERE verdict IS NULL) AS unjudged,
    string_agg(DISTINCT unjudged, '; ' ORDER BY unjudged) AS reasons
FROM judged_answers
WHERE sample IS NULL AND rule IS NULL
GROUP BY model, dtype, judge
ORDER BY model, dtype, judge
