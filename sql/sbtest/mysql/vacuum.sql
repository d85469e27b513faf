-- Statistics for the planner; there is nothing to vacuum.
analyze table sbtest{n};
