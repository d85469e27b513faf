//! Opens a page in headless Chromium: what the page found when it checked itself, what the browser
//! complained about, and screenshots.

use std::env;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Milliseconds of the page's own clock that it gets; they pass as fast as it works.
const VIRTUAL_TIME_MS: u32 = 20_000;

/// The browser's program; `None` where it is not installed and not required.
#[expect(clippy::print_stderr, reason = "a test that did not run must say so")]
pub(crate) fn chromium() -> Option<String> {
    let found = env::var("DBLOAD_TEST_CHROMIUM").ok();
    let required =
        env::var("DBLOAD_REQUIRE").is_ok_and(|list| list.split(',').any(|e| e == "chromium"));
    assert!(found.is_some() || !required, "DBLOAD_TEST_CHROMIUM is not set, and required");
    if found.is_none() {
        eprintln!("SKIPPED: DBLOAD_TEST_CHROMIUM is not set (the path of a Chromium)");
    }
    found
}

/// A page in a window of `width`.
pub(crate) struct Browser<'a> {
    pub(crate) program: &'a str,
    pub(crate) page: &'a Path,
    pub(crate) width: u32,
    pub(crate) dark: bool,
}

impl Browser<'_> {
    /// Runs the browser on a page that holds the page in a frame: a window cannot be as narrow as
    /// a telephone, a frame can.
    fn run(&self, fragment: &str, height: u32, more: &[String]) -> (String, String) {
        let place = tempfile::tempdir().expect("a folder for the browser");
        let around = place.path().join("around.html");
        let frame = format!(
            "<!DOCTYPE html><style>body{{margin:0}}</style><script>onmessage=e=>document.body\
             .dataset.check=JSON.stringify(e.data)</script><body><iframe src=\"file://{}{fragment}\" \
             style=\"border:0;width:{}px;height:{height}px\"></iframe>",
            self.page.display(),
            self.width,
        );
        std::fs::write(&around, frame).expect("a page");
        let mut command = Command::new(self.program);
        command
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"])
            .args(["--no-first-run", "--disable-background-networking"])
            .args(["--disable-component-update", "--disable-sync", "--hide-scrollbars"])
            .args(["--enable-logging=stderr", "--log-level=0"])
            .arg(format!("--user-data-dir={}", place.path().join("profile").display()))
            .arg(format!("--window-size={},{height}", self.width))
            .arg(format!("--virtual-time-budget={VIRTUAL_TIME_MS}"))
            .args(more);
        if self.dark {
            command.arg("--blink-settings=preferredColorScheme=0");
        }
        let done = command.arg(format!("file://{}", around.display())).output();
        let done = done.expect("the browser starts");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (text(done.stdout), text(done.stderr))
    }

    /// What the page says about itself, and the lines that it wrote to the console.
    pub(crate) fn check(&self) -> (Value, Vec<String>) {
        let (dom, log) = self.run("#selfcheck", 1400, &["--dump-dom".to_owned()]);
        let start = dom.find("data-check=\"").unwrap_or_else(|| panic!("no check: {log}{dom}"));
        let text = dom[start + "data-check=\"".len()..].split('"').next().unwrap_or_default();
        let text = text
            .replace("&quot;", "\"")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&nbsp;", "\u{a0}")
            .replace("&amp;", "&");
        let console = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned);
        (serde_json::from_str(&text).expect("the check is JSON"), console.collect())
    }

    /// Writes a picture.
    pub(crate) fn screenshot(&self, to: &Path, height: u32) {
        self.run("", height, &[format!("--screenshot={}", to.display())]);
        assert!(to.is_file(), "no picture in {}", to.display());
    }
}
