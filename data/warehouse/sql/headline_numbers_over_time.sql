-- Each headline number of each completed run, with its paired change since the run before.
-- needs: history
SELECT
    n.run, json_extract_string(r.state, '$.completed_at') AS completed_at,
    n.model, n.dtype, n.quantity, n."group", n.unit, n.n, n.clusters, n.mean, n.low, n.high,
    n.same, n.mean_before, n.change, n.change_low, n.change_high, n.p, n.p_adjusted, n.direction
FROM history AS n
JOIN history AS r ON r.run = n.run AND r.kind = 'run'
WHERE n.kind = 'number'
ORDER BY n.model, n.dtype, n.quantity, n."group", n.run
