"""Prints `tag count p50 p99 max` of every tag of an HdrHistogram log, all intervals together."""
import sys

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

path = sys.argv[1]
tags = []
for line in open(path):
    if line.startswith("Tag="):
        tag = line[4:].split(",", 1)[0]
        if tag not in tags:
            tags.append(tag)
for tag in tags:
    total = HdrHistogram(100, 3_600_000_000_000, 3 if tag.startswith("txn.") else 2)
    reader = HistogramLogReader(path, total)
    while True:
        interval = reader.get_next_interval_histogram()
        if interval is None:
            break
        if interval.get_tag() == tag:
            total.add(interval)
    figures = [total.get_value_at_percentile(p) for p in (50, 99)]
    print(tag, total.get_total_count(), *figures, total.get_max_value())
