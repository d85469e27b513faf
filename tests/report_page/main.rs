//! `report.html` as a browser shows it. `DBLOAD_TEST_CHROMIUM` names the browser; without it the
//! tests that need one print SKIPPED, unless `DBLOAD_REQUIRE` holds `chromium`.
//! `DBLOAD_TEST_KEEP=DIR` keeps the pages and takes pictures of them.

#![expect(clippy::unwrap_used, reason = "a page that cannot be made is a failed test")]

mod browser;
mod study;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use browser::{Browser, chromium};
use dbload::report::html;
use dbload::result::{IntervalRow, Run, Summary};
use serde_json::{Value, json};
use study::Study;

/// A study on disk with its page.
struct Page {
    folder: tempfile::TempDir,
    text: String,
}

impl Page {
    fn of(study: &Study) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let results = folder.path().join("results");
        study.write(&results);
        html::write_in(&results).unwrap();
        let text = fs::read_to_string(results.join(html::FILE_NAME)).unwrap();
        Self { folder, text }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("results").join(name)
    }

    fn summary(&self) -> Summary {
        Summary::from_json(&fs::read_to_string(self.path("summary.json")).unwrap()).unwrap()
    }

    fn intervals(&self) -> Vec<IntervalRow> {
        let reader = csv::Reader::from_path(self.path("intervals.csv")).unwrap();
        reader.into_deserialize().map(Result::unwrap).collect()
    }

    /// The data of the charts.
    fn data(&self) -> Value {
        let from = self.text.split("id=\"data\">").nth(1).unwrap();
        serde_json::from_str(from.split("</script>").next().unwrap()).unwrap()
    }

    /// Opens the page; fails when the browser complains or asks for anything.
    fn check(&self, program: &str, width: u32, dark: bool) -> Value {
        let page = self.path(html::FILE_NAME);
        let browser = Browser { program, page: &page, width, dark };
        let (found, console) = browser.check();
        assert_eq!(console, Vec::<String>::new());
        assert_eq!((&found["errors"], &found["resources"]), (&json!([]), &json!([])));
        assert_eq!(found["unlabelled"], 0);
        assert_eq!(found["overlaps"], json!([]), "at {width} pixels");
        for (chart, drawn) in found["charts"].as_object().unwrap() {
            assert_eq!(drawn["broken"], 0, "{chart}");
        }
        let (scroll, client) = (&found["scroll_width"], &found["client_width"]);
        assert!(scroll.as_u64() <= client.as_u64(), "{scroll} > {client} at {width} pixels");
        assert_eq!(client.as_u64(), Some(width.into()), "the window has another width");
        found
    }

    fn keep(&self, program: &str, name: &str) {
        let Some(folder) = env::var_os("DBLOAD_TEST_KEEP").map(PathBuf::from) else { return };
        fs::create_dir_all(&folder).unwrap();
        let page = folder.join(format!("{name}.html"));
        fs::write(&page, &self.text).unwrap();
        for (width, dark) in [(360, false), (1280, false), (1280, true), (1920, false)] {
            let to = folder.join(format!("{name}-{width}{}.png", if dark { "-dark" } else { "" }));
            Browser { program, page: &page, width, dark }.screenshot(&to, 4000);
        }
    }
}

/// Panels, series and points of a chart.
fn drawn(found: &Value, chart: &str) -> [u64; 3] {
    let of = |key: &str| found["charts"][chart][key].as_u64().unwrap();
    [of("panels"), of("series"), of("points")]
}

#[test]
fn a_study_is_drawn_whole_and_tells_what_the_files_hold() {
    let page = Page::of(&Study::golden());
    let Some(program) = chromium() else { return };
    page.keep(&program, "golden");
    for (width, dark) in [(360, false), (1280, true), (1920, false)] {
        let found = page.check(&program, width, dark);
        // 2 arms, 3 levels, 5 rounds of 60 intervals; one comparison of 3 levels.
        assert_eq!(drawn(&found, "clients"), [1, 2, 6]);
        assert_eq!(drawn(&found, "forest"), [1, 1, 4]);
        assert_eq!(drawn(&found, "throughput"), [2, 10, 600]);
        assert_eq!(drawn(&found, "latency"), [2, 6, 360]);
        let [panels, series, points] = drawn(&found, "percentiles");
        assert!([panels, series] == [1, 10] && points > 300, "{points}");
        assert_eq!(drawn(&found, "steadiness"), [1, 2, 2]);
        assert_eq!(drawn(&found, "server"), [1, 10, 600]);
        assert_eq!(drawn(&found, "costs"), [4, 8, 24]);
        assert_eq!(found["late"], json!([600, 600, 2]), "rows of the tables made when opened");
        let themes = found["themes"].as_array().unwrap();
        assert_eq!(themes[0], json!(["Theme: light", "rgb(255, 255, 255)"]));
        assert_eq!(themes[1], json!(["Theme: dark", "rgb(20, 23, 27)"]));
        assert_eq!(themes[2][1], themes[usize::from(dark)][1], "the system's theme");
        assert_eq!(found["zoom"], json!([null, [15, 45], [30, 60], null, true]));
    }
}

#[test]
fn keyboard_and_pointer_read_the_value_of_the_csv_file() {
    let page = Page::of(&Study::golden());
    let Some(program) = chromium() else { return };
    let found = page.check(&program, 1280, false);
    let rows: Vec<IntervalRow> = page
        .intervals()
        .into_iter()
        .filter(|row| row.arm == "pg18/ext4" && row.round == 1 && row.clients == 32)
        .collect();
    for (key, row) in [(0, 0), (1, 1), (2, 2), (3, 59), (4, 59)] {
        let text = found["hover"][key]["text"].as_str().unwrap();
        let first =
            format!("pg18/ext4, round 1\n{:.1} s: {} tps\n", rows[row].start_s, rows[row].tps);
        assert!(text.starts_with(&first), "{text} is not {first}");
        let p50 = text.split("p50 ").nth(1).unwrap().split(',').next().unwrap();
        let expected = rows[row].latency_p50_ms.unwrap();
        assert!((p50.parse::<f64>().unwrap() / expected - 1.0).abs() < 1e-4, "{p50} {expected}");
    }
}

/// A cell of a table is the figure, rounded to the decimals that it shows.
fn assert_shows(cell: &str, figure: f64) {
    let decimals = cell.split('.').nth(1).map_or(0, str::len);
    assert_eq!(cell, format!("{figure:.decimals$}"));
}

/// The cells of the rows of the table with this caption.
fn rows_of<'a>(text: &'a str, caption: &str) -> Vec<Vec<&'a str>> {
    let table = text.split(&format!("<caption>{caption}</caption>")).nth(1).unwrap();
    let body = table.split("<tbody>").nth(1).unwrap().split("</tbody>").next().unwrap();
    let cells = |row: &'a str| {
        let cells = row.split("<td").skip(1);
        cells.map(|cell| cell.split('>').nth(1).unwrap().split('<').next().unwrap()).collect()
    };
    body.split("<tr>").skip(1).map(cells).collect()
}

#[test]
fn every_number_is_that_of_the_summary() {
    let page = Page::of(&Study::golden());
    let summary = page.summary();
    let rows = rows_of(&page.text, "Every run, as summary.json has it");
    assert_eq!(rows.len(), summary.runs.len());
    for (row, run) in rows.iter().zip(&summary.runs) {
        let latency = run.latency_ms;
        let figures = [
            (3, run.transactions as f64),
            (4, run.tps),
            (5, run.failed.total as f64),
            (6, run.retries as f64),
            (7, latency.p50.unwrap()),
            (8, latency.p95.unwrap()),
            (9, latency.p99.unwrap()),
            (10, latency.max.unwrap()),
            (11, 100.0 * run.variance.cv.unwrap()),
            (12, run.duration_s),
        ];
        for (column, figure) in figures {
            assert_shows(row[column], figure);
        }
    }
    let [comparison] = summary.comparisons.as_slice() else { panic!("one comparison") };
    let rows = rows_of(&page.text, "Ratio of throughput to the baseline");
    let whole = [comparison.ratio, comparison.ci_low.unwrap(), comparison.ci_high.unwrap()];
    let levels = comparison.levels.iter();
    let levels = levels.map(|l| [l.ratio, l.ci_low.unwrap(), l.ci_high.unwrap()]);
    for (row, figures) in rows.iter().zip([whole].into_iter().chain(levels)) {
        for (cell, figure) in row[2..5].iter().zip(figures) {
            assert_shows(cell, figure);
        }
    }
    let said = &comparison.sentence;
    let sentence = format!("<bdi>pg18&#x2f;xfs against pg18&#x2f;ext4: {said}.</bdi></h1>");
    assert!(said.starts_with("faster by"), "{said}");
    assert!(page.text.contains(&sentence), "no {sentence}");
    assert_charts_hold_the_summary(&page.data(), &summary);
}

/// Runs of an arm at a level.
fn cell<'a>(summary: &'a Summary, arm: &str, clients: u32) -> Vec<&'a Run> {
    summary.runs.iter().filter(|run| run.arm == arm && run.clients == clients).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn every_mean_over_rounds_is_that_of_the_summary() {
    let page = Page::of(&Study::golden());
    let summary = page.summary();
    let captions = [
        "Throughput by number of clients, transactions per second",
        "Latency in milliseconds, percentiles as means over the rounds",
        "Variation within runs: means over the rounds; lowest, dips, stalls of all rounds",
    ];
    let [throughput, latency, steadiness] = captions.map(|caption| rows_of(&page.text, caption));
    let cells: Vec<Vec<&Run>> = [2, 8, 32]
        .into_iter()
        .flat_map(|clients| summary.arms.iter().map(move |arm| (clients, &arm.name)))
        .map(|(clients, arm)| cell(&summary, arm, clients))
        .collect();
    assert_eq!([throughput.len(), latency.len(), steadiness.len()], [cells.len(); 3]);
    for (at, runs) in cells.iter().enumerate() {
        let logs: Vec<f64> = runs.iter().map(|run| run.tps.ln()).collect();
        let middle = mean(logs.iter().copied());
        let squares = logs.iter().map(|log| (log - middle).powi(2)).sum::<f64>();
        assert_shows(throughput[at][2], middle.exp());
        assert_shows(throughput[at][5], 100.0 * (squares / (runs.len() - 1) as f64).sqrt());
        assert_eq!(throughput[at][6], runs.len().to_string());
        let of = |get: fn(&Run) -> f64| mean(runs.iter().map(|run| get(run)));
        assert_shows(latency[at][2], of(|run| run.latency_ms.mean.unwrap()));
        assert_shows(latency[at][3], of(|run| run.latency_ms.p50.unwrap()));
        assert_shows(latency[at][6], of(|run| run.latency_ms.p99.unwrap()));
        let slowest = runs.iter().filter_map(|run| run.latency_ms.max).fold(0.0, f64::max);
        assert_shows(latency[at][9], slowest);
        assert_shows(steadiness[at][2], of(|run| 100.0 * run.variance.cv.unwrap()));
        assert_shows(steadiness[at][3], of(|run| 100.0 * run.variance.robust_cv.unwrap()));
        assert_shows(steadiness[at][4], of(|run| run.variance.steadiness.unwrap()));
        let dips: usize = runs.iter().map(|run| run.variance.dips.len()).sum();
        assert_eq!(steadiness[at][6], dips.to_string());
    }
    let caption = "Change of throughput against the baseline, with 95 % interval; tinted where \
                   there is a verdict and the level is significant by itself (Holm)";
    let relative = rows_of(&page.text, caption);
    let levels = summary.comparisons[0].levels.iter().map(|level| level.ratio);
    let ratios: Vec<f64> = levels.chain([summary.comparisons[0].ratio]).collect();
    assert_eq!(relative.len(), ratios.len());
    for (row, ratio) in relative.iter().zip(ratios) {
        assert_eq!(row[1], format!("+{:.1} %", 100.0 * (ratio - 1.0)));
    }
    let data = page.data();
    for (arm, per_txn) in summary.arms.iter().zip(data["costs"][0]["of"].as_array().unwrap()) {
        let first = cell(&summary, &arm.name, 2);
        let cost = mean(first.iter().map(|run| run.host.as_ref().unwrap().per_txn["cpu_us"]));
        assert!((per_txn[3].as_f64().unwrap() / cost - 1.0).abs() < 5e-5, "{per_txn} {cost}");
    }
}

#[test]
fn over_several_workloads_the_headline_says_where_which_arm_wins() {
    let page = Page::of(&Study::several());
    let summary = page.summary();
    let said: Vec<String> = summary
        .comparisons
        .iter()
        .map(|one| {
            let [change, low, high] = [one.ratio, one.ci_low.unwrap(), one.ci_high.unwrap()]
                .map(|ratio| format!("+{:.1} %", 100.0 * (ratio - 1.0)));
            format!("{} ({change}, {low} to {high})", one.workload)
        })
        .collect();
    let headline =
        format!("pg18&#x2f;xfs against pg18&#x2f;ext4: faster on {}.", said.join(" and "));
    assert!(page.text.contains(&format!("<bdi>{headline}</bdi></h1>")), "no {headline}");
    // What a workload does not move is not drawn for it.
    let data = page.data();
    assert!(!data["costs"].as_array().unwrap().is_empty());
    assert_eq!(page.text.matches("Cost of a committed transaction").count(), 2 * 2);
    let Some(program) = chromium() else { return };
    page.keep(&program, "several");
    for width in [360, 1280] {
        let found = page.check(&program, width, false);
        assert_eq!(drawn(&found, "costs"), [10, 20, 20]);
    }
}

/// Means over rounds, rates of runs, and ratios in the data of the charts.
fn assert_charts_hold_the_summary(data: &Value, summary: &Summary) {
    let near = |found: &Value, figure: f64| {
        let found = found.as_f64().unwrap();
        // Five digits at least.
        assert!((found / figure - 1.0).abs() < 5e-5, "{found} is not {figure}");
    };
    assert_eq!(data["forest"], serde_json::to_value(&summary.comparisons).unwrap());
    for (drawn, run) in data["runs"].as_array().unwrap().iter().zip(&summary.runs) {
        near(&drawn["tps"], run.tps);
        near(&drawn["qmax"], run.latency_ms.max.unwrap());
        assert_eq!(drawn["dips"].as_array().unwrap().len(), run.variance.dips.len());
    }
    for mean in data["means"].as_array().unwrap() {
        let arm = &summary.arms[usize::try_from(mean["a"].as_u64().unwrap()).unwrap()].name;
        let own = |run: &&Run| run.arm == *arm && mean["c"] == run.clients;
        let rates: Vec<f64> = summary.runs.iter().filter(own).map(|run| run.tps).collect();
        let logs: f64 = rates.iter().map(|rate| rate.ln()).sum();
        near(&mean["y"], (logs / rates.len() as f64).exp());
        assert_eq!(mean["n"], rates.len());
    }
}

#[test]
fn with_a_rate_response_times_are_shown_and_less_is_faster() {
    let page = Page::of(&Study::with_rate());
    let summary = page.summary();
    let [comparison] = summary.comparisons.as_slice() else { panic!("one comparison") };
    assert!(comparison.ratio < 1.0, "{comparison:?}");
    let said = &comparison.sentence;
    assert!(said.starts_with("lower by"), "{said}");
    assert!(page.text.contains(&format!("99th percentile of response: {said}.")), "{said}");
    assert!(page.text.contains("open loop at 500 tps"));
    assert!(page.text.contains("Response time, from the intended start"));
    let rows = rows_of(&page.text, "Ratio of 99th percentile of response time to the baseline");
    assert_shows(rows[0][2], comparison.ratio);
    let caption = "Latency in milliseconds, percentiles as means over the rounds";
    let rows = rows_of(&page.text, caption);
    let own = |run: &&Run| run.arm == "pg18/ext4";
    let p99: Vec<f64> =
        summary.runs.iter().filter(own).map(|r| r.response_ms.unwrap().p99.unwrap()).collect();
    assert_shows(rows[0][6], p99.iter().sum::<f64>() / p99.len() as f64);
    let Some(program) = chromium() else { return };
    page.keep(&program, "rate");
    let found = page.check(&program, 1280, false);
    assert_eq!(drawn(&found, "latency"), [2, 6, 360]);
    assert_eq!(drawn(&found, "forest"), [1, 1, 2]);
}

#[test]
fn a_csv_file_of_rates_is_a_page_with_what_it_tells() {
    let folder = tempfile::tempdir().unwrap();
    let csv = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/seed_pgbench_ext4_xfs.csv");
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_dbload"))
        .args(["compare", csv, "--html", "results/report.html"])
        .current_dir(folder.path())
        .output();
    fs::create_dir(folder.path().join("results")).unwrap();
    assert_eq!(done.unwrap().status.code(), Some(1), "no folder to write into");
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_dbload"))
        .args(["compare", csv, "--html", "results/report.html"])
        .current_dir(folder.path())
        .output();
    assert_eq!(done.unwrap().status.code(), Some(0));
    let text = fs::read_to_string(folder.path().join("results/report.html")).unwrap();
    let page = Page { folder, text };
    let headline = "xfs against ext4, no verdict: the arms were run one after the other.";
    assert!(page.text.contains(headline) && page.text.contains("Only throughputs are known"));
    for made_up in ["0 failed", "closed loop", "data-chart=\"latency\"", "seed 0"] {
        assert!(!page.text.contains(made_up), "{made_up}");
    }
    assert!(page.text.contains("5 and 6 rounds, not interleaved"), "rounds of either arm");
    let rows = rows_of(&page.text, "Ratio of throughput to the baseline");
    let ratios: Vec<&str> = rows.iter().map(|row| row[2]).collect();
    let expected = ["1.0542", "1.0933", "0.9790", "1.0180", "1.0694", "1.0872", "1.0971", "1.0411"];
    assert_eq!(ratios, expected);
    let rows = rows_of(&page.text, "Every run, as summary.json has it");
    assert_eq!((rows.len(), rows[0][3], rows[0][4], rows[0][5]), (77, "–", "873.2", "–"));
    let Some(program) = chromium() else { return };
    page.keep(&program, "ext4-xfs");
    for width in [360, 1920] {
        let found = page.check(&program, width, false);
        assert_eq!(drawn(&found, "clients"), [1, 2, 14]);
        assert_eq!(drawn(&found, "forest"), [1, 1, 8]);
    }
}

#[test]
fn hostile_names_are_text_and_nothing_else() {
    let page = Page::of(&Study::hostile());
    let names = Study::hostile();
    for needle in ["<script>document", "<img", "<b>", "</code><b>"] {
        assert!(!page.text.contains(needle), "{needle} stands in the page");
    }
    assert!(page.text.contains("{% raw %}"), "a template in a value stays a text");
    let data = page.data();
    assert_eq!(data["arms"], json!(names.arms));
    assert_eq!(data["workloads"], json!(names.workloads));
    let Some(program) = chromium() else { return };
    page.keep(&program, "hostile");
    for width in [360, 1920] {
        let found = page.check(&program, width, false);
        assert_eq!(drawn(&found, "throughput"), [3, 6, 30]);
        assert_eq!(drawn(&found, "steadiness"), [1, 3, 3]);
        let title = found["title"].as_str().unwrap();
        assert!(title.contains("</script><script>document.title="), "{title}");
    }
}

#[test]
fn the_largest_study_fits_and_is_drawn() {
    let page = Page::of(&Study::large());
    assert!(page.text.len() < 2_000_000, "{} bytes", page.text.len());
    let Some(program) = chromium() else { return };
    page.keep(&program, "large");
    let found = page.check(&program, 1920, false);
    assert_eq!(drawn(&found, "clients"), [1, 8, 56]);
    assert_eq!(drawn(&found, "forest"), [1, 7, 56]);
    assert_eq!(drawn(&found, "throughput"), [8, 64, 3840]);
    println!("drawn in {} ms", found["draw_ms"]);
}

#[test]
fn what_is_not_there_is_said_to_be_not_recorded() {
    let page = Page::of(&Study::golden());
    for name in ["intervals.csv", "events.jsonl", "environment.json", "plan.toml"] {
        fs::remove_file(page.path(name)).unwrap();
    }
    for entry in fs::read_dir(page.path("")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "hlog" || ending == "hgrm") {
            fs::remove_file(path).unwrap();
        }
    }
    html::write_in(&page.path("")).unwrap();
    let text = fs::read_to_string(page.path(html::FILE_NAME)).unwrap();
    assert!(
        text.contains("Intervals: not recorded.") && text.contains("Histograms: not recorded.")
    );
    let Some(program) = chromium() else { return };
    let found = page.check(&program, 1280, false);
    assert_eq!(drawn(&found, "throughput"), [0, 0, 0]);
    assert_eq!(drawn(&found, "clients"), [1, 2, 6]);
}

#[test]
fn a_damaged_file_is_refused_with_its_line() {
    let page = Page::of(&Study::golden());
    let refused = |name: &str, text: &str, said: &str| {
        let before = fs::read(page.path(name)).unwrap();
        fs::write(page.path(name), text).unwrap();
        let error = html::Results::read(Path::new(&page.path(""))).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(said), "{error}");
        fs::write(page.path(name), before).unwrap();
    };
    let csv = fs::read_to_string(page.path("intervals.csv")).unwrap();
    let cut = &csv[..csv.match_indices('\n').nth(4).unwrap().0 - 20];
    refused("intervals.csv", cut, "line 5");
    refused("intervals.csv", "a,b\n1,2\n", "line 1");
    refused("events.jsonl", "\n{\"kind\":1}\n", "line 2");
    refused("environment.json", "{}", "line 1");
    refused("summary.json", "{\"schema\":\"dbload/summary/9\"}", "dbload/summary/9");
    fs::remove_file(page.path("summary.json")).unwrap();
    let error = html::Results::read(&page.path("")).unwrap_err().to_string();
    assert!(error.contains("dbload run"), "{error}");
}
