//! The MySQL or MariaDB server that the environment names, and a database of its own for each test.
//!
//! `DBLOAD_TEST_MYSQL_URL` is the server's URL, `DBLOAD_TEST_MYSQL` its name for `scripts/servers`,
//! which sets both. Without them a test prints SKIPPED, unless `DBLOAD_REQUIRE` holds `mysql`: then
//! it fails. SQL goes through the `mariadb` client, which speaks to both.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::Signal;

use super::program::send;

/// A database that lives as long as the value.
pub(crate) struct Database {
    login: Login,
    /// Its name on the server.
    pub(crate) name: String,
}

/// How to reach a server.
#[derive(Clone)]
struct Login {
    user: String,
    password: String,
    host: String,
    port: String,
}

/// A server of a test's own, for what would disturb others.
pub(crate) struct Server {
    folder: PathBuf,
    name: String,
    login: Login,
}

#[expect(clippy::print_stderr, reason = "a test that did not run must say so")]
fn variable(name: &str) -> Option<String> {
    let value = env::var(name).ok();
    if value.is_none() {
        let wanted = env::var("DBLOAD_REQUIRE").unwrap_or_default();
        assert!(!wanted.split(',').any(|engine| engine == "mysql"), "{name} is not set");
        eprintln!("SKIPPED: {name} is not set (see scripts/servers)");
    }
    value
}

/// Runs `test` on a new database.
pub(crate) fn with_database(test: impl FnOnce(&Database)) {
    if let Some(url) = variable("DBLOAD_TEST_MYSQL_URL") {
        test(&Database::create(Login::of(&url)));
    }
}

/// Runs `test` on a server of its own.
pub(crate) fn with_server(test: impl FnOnce(&Server)) {
    if let Some(name) = variable("DBLOAD_TEST_MYSQL") {
        test(&Server::start(&name));
    }
}

impl Login {
    /// From `mysql://user:password@host:port/database`.
    fn of(url: &str) -> Self {
        let (login, rest) = url.trim_start_matches("mysql://").split_once('@').expect("a user");
        let (user, password) = login.split_once(':').expect("a password");
        let (address, _) = rest.split_once('/').expect("a database");
        let (host, port) = address.split_once(':').expect("a port");
        let [user, password, host, port] = [user, password, host, port].map(str::to_owned);
        Self { user, password, host, port }
    }

    fn client(&self, database: &str, sql: &str) -> Command {
        let mut client = Command::new("mariadb");
        client
            .args(["--no-defaults", "-N", "-B", "-h", &self.host, "-P", &self.port])
            .args(["-u", &self.user, "-e", sql, database])
            .env("MYSQL_PWD", &self.password);
        client
    }

    fn sql(&self, database: &str, sql: &str) -> String {
        let Output { status, stdout, stderr } =
            self.client(database, sql).output().expect("the client starts");
        assert!(status.success(), "{sql}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).expect("UTF-8").trim_end().to_owned()
    }
}

impl Database {
    fn create(login: Login) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("dbload_test_{}_{number}", process::id());
        login.sql("test", &format!("create database {name}"));
        Self { login, name }
    }

    /// The URL of this database.
    pub(crate) fn url(&self) -> String {
        let Login { user, password, host, port } = &self.login;
        format!("mysql://{user}:{password}@{host}:{port}/{}", self.name)
    }

    /// The password in the URL.
    pub(crate) fn password(&self) -> &str {
        &self.login.password
    }

    /// The rows of the last query, columns separated by tabs.
    pub(crate) fn sql(&self, sql: &str) -> String {
        self.login.sql(&self.name, sql)
    }

    /// The one number that a query returns.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        let text = self.sql(sql);
        text.parse().unwrap_or_else(|_| panic!("{sql} returned {text:?}"))
    }

    /// The number of rows of `table`.
    pub(crate) fn rows(&self, table: &str) -> u64 {
        let rows = self.number(&format!("select count(*) from {table}"));
        u64::try_from(rows).expect("a count")
    }

    /// A session that runs `sql` beside the test.
    pub(crate) fn session(&self, sql: &str) -> Child {
        let mut client = self.login.client(&self.name, sql);
        client.stdout(Stdio::null()).spawn().expect("the client starts")
    }

    /// Sessions of this database now, without the one that asks.
    pub(crate) fn sessions(&self) -> i64 {
        self.number(
            "select count(*) from information_schema.processlist
             where db = database() and id <> connection_id()",
        )
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // A second panic would hide the message of the first; a killed server has no databases.
        let mut client = self.login.client("test", &format!("drop database {}", self.name));
        let _ = client.stderr(Stdio::null()).status();
    }
}

impl Server {
    fn start(name: &str) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/servers");
        let started = Command::new(script)
            .args(["start", name])
            .env_remove("DBLOAD_SERVERS_DIR")
            .output()
            .expect("the script starts");
        let text = String::from_utf8(started.stdout).expect("UTF-8");
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        let value = |key: &str| {
            let (_, rest) = text.split_once(&format!("{key}='")).expect(key);
            rest.split_once('\'').expect("a quote").0.to_owned()
        };
        Self {
            folder: value("DBLOAD_SERVERS_DIR").into(),
            name: name.to_owned(),
            login: Login::of(&value("DBLOAD_TEST_MYSQL_URL")),
        }
    }

    /// A new database on it.
    pub(crate) fn database(&self) -> Database {
        Database::create(self.login.clone())
    }

    /// Ends it at once, as a power failure would.
    pub(crate) fn kill(&self) {
        let pid = std::fs::read_to_string(self.folder.join(&self.name).join("pid"));
        let pid = pid.expect("a pid file").trim().parse().expect("a process id");
        send(pid, Signal::KILL);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/servers");
        let mut stop = Command::new(script);
        // Nothing can be done about a failure here.
        let _ = stop.arg("stop").arg(&self.folder).stderr(Stdio::null()).status();
    }
}
