//! The MySQL or MariaDB server that the environment names, and a database of its own for each test.
//!
//! `DBLOAD_TEST_MYSQL_URL` is the server's URL, `DBLOAD_TEST_MYSQL` its name for `scripts/servers`,
//! which sets both. Without them a test prints SKIPPED, unless `DBLOAD_REQUIRE` holds `mysql`: then
//! it fails. SQL goes through the `mariadb` client, which speaks to both.

use std::env;
use std::process::{self, Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use super::servers::OwnServer;

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
    server: OwnServer,
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

/// Runs `test` with the URL of a server that has a certificate for 127.0.0.1 and localhost, and
/// listens on 127.0.0.2, too. The URL asks for `VERIFY_IDENTITY` and names the authority.
pub(crate) fn with_tls_server(test: impl FnOnce(&str)) {
    if let Some(url) = variable("DBLOAD_TEST_MYSQL_TLS_URL") {
        test(&url);
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
        let server = OwnServer::start(name);
        Self { login: Login::of(&server.setting("DBLOAD_TEST_MYSQL_URL")), server }
    }

    /// A new database on it.
    pub(crate) fn database(&self) -> Database {
        Database::create(self.login.clone())
    }

    /// Ends it at once.
    pub(crate) fn kill(&self) -> Vec<String> {
        self.server.kill("pid")
    }

    /// Starts it again with the command line that it had, as a child of nobody's.
    pub(crate) fn start_again(&self, command_line: &[String]) {
        let mut shell = self.server.command("sh");
        shell.args(["-c", "\"$@\" </dev/null &", "sh"]).args(command_line);
        assert!(shell.status().expect("a shell").success());
    }
}
