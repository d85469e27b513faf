// Prints `tag count p50 p99 max` of every tag of an HdrHistogram log, all intervals together.
const fs = require("fs");
const hdr = require(process.env.DBLOAD_TEST_HDR_NODE + "/hdr-histogram-js");

const reader = new hdr.HistogramLogReader(fs.readFileSync(process.argv[2], "utf8"));
const totals = new Map();
for (;;) {
  const interval = reader.nextIntervalHistogram();
  if (interval === null) break;
  const total = totals.get(interval.tag);
  if (total) total.add(interval);
  else totals.set(interval.tag, interval);
}
for (const [tag, total] of totals) {
  // Its own maxValue grows by 63 with every histogram that is added (a "+" that should be "|").
  const figures = [50, 99, 100].map((percentile) => total.getValueAtPercentile(percentile));
  console.log(tag, total.totalCount, ...figures);
}
