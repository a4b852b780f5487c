-- Each shard of the corpus with the numbers of documents, words and tokens read, then the whole corpus.
-- needs: shards
SELECT
    corpus, coalesce(shard, 'all ' || count(*) || ' shards') AS shard,
    sum(documents)::BIGINT AS documents, sum(words)::BIGINT AS words, sum(tokens)::BIGINT AS tokens,
    sum("read")::BIGINT AS "read", sum(unreadable)::BIGINT AS unreadable, min(problem) AS problem, max(counted_at) AS counted_at
FROM shards
LEFT JOIN (SELECT any_value(corpus) AS corpus FROM frequencies) ON true
GROUP BY GROUPING SETS ((corpus, shard), (corpus))
ORDER BY corpus, grouping(shard), shard
