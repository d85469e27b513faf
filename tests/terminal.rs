//! What a person sees on a terminal: tmux is the terminal, its screen is read back. Without tmux the
//! tests print SKIPPED, unless `DBLOAD_REQUIRE` holds `tmux`.

#![expect(clippy::unwrap_used, reason = "a terminal that cannot be driven is a failed test")]

mod common;

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use common::program::Place;

/// Together longer than any step takes on a busy machine.
const LOOKS: u32 = 2400;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// What the shell prints when dbload has ended.
const DONE: &str = "-- exit";

/// Whether there is a tmux.
#[expect(clippy::print_stderr, reason = "a test that did not run must say so")]
fn has_tmux() -> bool {
    let found = Command::new("tmux").arg("-V").output().is_ok();
    let required = std::env::var("DBLOAD_REQUIRE").is_ok_and(|l| l.split(',').any(|e| e == "tmux"));
    assert!(found || !required, "tmux is not installed, and required");
    if !found {
        eprintln!("SKIPPED: tmux is not installed");
    }
    found
}

/// A terminal in which dbload runs.
struct Terminal {
    place: Place,
    socket: String,
}

impl Terminal {
    /// Starts `dbload run` on SQLite in a terminal of `columns`, with variables before it.
    fn start(columns: u32, env: &str, args: &str) -> Self {
        let place = Place::new();
        let init = ["init", "--target", "sqlite:db", "--scale", "1", "--quiet"];
        place.dbload(&init).expect_code(0);
        let socket = place.path("tmux").display().to_string();
        let terminal = Self { place, socket };
        let folder = terminal.place.path("");
        let command = format!(
            "cd {} && env -u DBLOAD_TARGET LC_ALL=C.UTF-8 {env} {} run --target sqlite:db -S \
             --out o --no-monitor --seed 1 {args}; echo '{DONE}' $?; sleep 600",
            folder.display(),
            env!("CARGO_BIN_EXE_dbload"),
        );
        let size = columns.to_string();
        terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", &size, "-y", "50", &command]);
        terminal
    }

    fn tmux(&self, args: &[&str]) -> String {
        let done = Command::new("tmux").args(["-S", &self.socket]).args(args).output().unwrap();
        assert!(done.status.success(), "tmux {args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    /// The lines of the screen and of what scrolled off it; lines that the terminal broke are
    /// `joined`, or not.
    fn lines(&self, joined: bool) -> Vec<String> {
        let mut args = vec!["capture-pane", "-p", "-S", "-"];
        if joined {
            args.push("-J");
        }
        let text = self.tmux(&args);
        let lines = text.lines().map(|line| line.trim_end().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    }

    /// Waits until the screen fulfils `condition`.
    #[track_caller]
    fn wait(&self, what: &str, condition: impl Fn(&[String]) -> bool) -> Vec<String> {
        for _ in 0..LOOKS {
            let lines = self.lines(false);
            if condition(&lines) {
                return lines;
            }
            sleep(BETWEEN_LOOKS);
        }
        panic!("no {what}:\n{}", self.lines(false).join("\n"))
    }

    fn wait_for_end(&self) -> Vec<String> {
        let lines = self.wait("end", |lines| lines.iter().any(|line| line.starts_with(DONE)));
        assert!(lines.iter().any(|line| line == &format!("{DONE} 0")), "{}", lines.join("\n"));
        lines
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _gone = Command::new("tmux").args(["-S", &self.socket, "kill-server"]).output();
    }
}

/// Lines that are drawn in place.
fn bars(lines: &[String]) -> usize {
    lines.iter().filter(|line| line.contains("% run ")).count()
}

/// The ends of the intervals that have a line of their own, in seconds.
fn record(lines: &[String]) -> Vec<String> {
    let own = |line: &&String| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.len() > 3 && words[1] == "s" && words[3] == "tps" && !line.contains("warm-up")
    };
    lines.iter().filter(own).map(|l| l.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn at_every_width_lines_are_whole_and_the_record_stays() {
    if !has_tmux() {
        return;
    }
    for columns in [40, 80, 200] {
        let terminal = Terminal::start(columns, "", "-c 2 -T 3 --warmup 1");
        let live = terminal.wait("bar", |lines| bars(lines) == 1 && !record(lines).is_empty());
        assert!(live.iter().any(|line| line.contains("run 1 of 1")), "{columns}: {live:?}");
        let lines = terminal.wait_for_end();
        assert_eq!(lines, terminal.lines(true), "the terminal broke lines at {columns}");
        assert_eq!(bars(&lines), 0, "{}", lines.join("\n"));
        assert_eq!(record(&lines), ["1.0", "2.0", "3.0"], "{}", lines.join("\n"));
        assert!(lines.iter().any(|line| line.contains('█')), "no sparkline:\n{}", lines.join("\n"));
        let colours = terminal.tmux(&["capture-pane", "-p", "-e"]);
        assert!(!colours.contains('\u{1b}'), "{colours:?}");
    }
}

#[test]
fn a_terminal_that_is_resized_keeps_every_line() {
    if !has_tmux() {
        return;
    }
    let terminal = Terminal::start(100, "", "-c 2 -T 6 --warmup 0");
    for (columns, intervals) in [("50", 2), ("30", 3), ("120", 4)] {
        terminal.wait("interval", |lines| record(lines).len() >= intervals);
        terminal.tmux(&["resize-window", "-x", columns]);
    }
    terminal.wait("interval", |lines| record(lines).len() >= 5);
    terminal.wait("one bar", |lines| bars(lines) == 1);
    terminal.wait_for_end();
    let lines = terminal.lines(true);
    assert_eq!(bars(&lines), 0, "{}", lines.join("\n"));
    assert_eq!(record(&lines), ["1.0", "2.0", "3.0", "4.0", "5.0", "6.0"], "{}", lines.join("\n"));
    let torn = lines.iter().filter(|line| line.starts_with('[') || line.starts_with('='));
    assert_eq!(torn.count(), 0, "rests of a bar:\n{}", lines.join("\n"));
}

#[test]
fn a_dumb_terminal_and_no_colour_get_plain_lines() {
    if !has_tmux() {
        return;
    }
    let terminal = Terminal::start(80, "TERM=dumb NO_COLOR=1", "-c 2 -T 2 --warmup 0");
    terminal.wait("interval", |lines| !record(lines).is_empty());
    let lines = terminal.wait_for_end();
    assert_eq!(record(&lines), ["1.0", "2.0"], "{}", lines.join("\n"));
    assert_eq!(bars(&lines), 0);
    assert!(!lines.iter().any(|line| line.contains('█')), "{}", lines.join("\n"));
    let terminal = Terminal::start(80, "NO_COLOR=1", "-c 2 -T 2 --warmup 0");
    terminal.wait_for_end();
    let text = terminal.tmux(&["capture-pane", "-p", "-e"]);
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn a_pipe_gets_one_line_for_each_interval_and_no_escape_codes() {
    let place = Place::new();
    let run = ["run", "--target", "sqlite:db", "--init", "--scale", "1", "-S", "--no-monitor"];
    let ended = place.dbload(&[&run[..], &["-T", "2", "--warmup", "0"]].concat()).expect_code(0);
    let lines: Vec<String> = ended.stderr.lines().map(str::to_owned).collect();
    assert_eq!(record(&lines), ["1.0", "2.0"], "{ended}");
    assert!(!ended.output().contains(['\u{1b}', '\r']), "{ended}");
}
