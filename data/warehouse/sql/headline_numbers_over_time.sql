-- Every headline number of every completed run, and how far it moved since the run before, on the same items.
SELECT
    run, completed_at, model, dtype, quantity, "group", unit, n, clusters, mean, low, high,
    same, mean_before, change, change_low, change_high, p, p_adjusted, verdict
FROM history
ORDER BY model, dtype, quantity, "group", run
