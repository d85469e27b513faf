//! PostgreSQL servers named by the environment, and a database of its own for each test.
//!
//! `DBLOAD_TEST_PG18_URL` and `DBLOAD_TEST_PG18_BIN` (the folder with psql and pgbench) name one
//! server, and so on for other versions; `eval "$(scripts/servers start pg18)"` sets them. When
//! they are absent a test prints SKIPPED, unless `DBLOAD_REQUIRE` holds `pg`: then it fails.

use std::env;
use std::path::PathBuf;
use std::process::{self, Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use super::servers::OwnServer;

/// A database that lives as long as the value.
pub(crate) struct Database {
    server: Server,
    /// Its name on the server.
    pub(crate) name: String,
}

#[derive(Clone)]
struct Server {
    name: String,
    url: String,
    bin: PathBuf,
}

/// Runs `test` on a new database of server `server` (`PG15`, `PG18`, `PG_TLS`).
pub(crate) fn with_database(server: &str, test: fn(&Database)) {
    if let Some(database) = Database::create(server) {
        test(&database);
    }
}

/// A server of a test's own.
pub(crate) struct Own {
    server: OwnServer,
    bin: PathBuf,
}

impl Own {
    /// Ends it at once.
    pub(crate) fn kill(&self) {
        self.server.kill("data/postmaster.pid");
    }

    /// Stops it without a checkpoint and starts it again.
    pub(crate) fn restart(&self) {
        let mut restart = self.server.command(self.bin.join("pg_ctl"));
        restart.arg("-D").arg(self.server.data()).args(["-m", "immediate", "-w", "restart"]);
        assert!(restart.status().expect("pg_ctl starts").success());
    }
}

/// Runs `test` on a database of a server of its own (18).
pub(crate) fn with_server(test: impl FnOnce(&Database, &Own)) {
    if Server::from_env("PG18").is_none() {
        return;
    }
    let own = OwnServer::start("pg18");
    let server = Server {
        name: "PG18".to_owned(),
        url: own.setting("DBLOAD_TEST_PG18_URL"),
        bin: own.setting("DBLOAD_TEST_PG18_BIN").into(),
    };
    let own = Own { server: own, bin: server.bin.clone() };
    test(&server.database(), &own);
}

impl Server {
    #[expect(clippy::print_stderr, reason = "a test that did not run must say so")]
    fn from_env(name: &str) -> Option<Self> {
        let variable = |part| env::var(format!("DBLOAD_TEST_{name}_{part}")).ok();
        match (variable("URL"), variable("BIN")) {
            (Some(url), Some(bin)) => Some(Self { name: name.to_owned(), url, bin: bin.into() }),
            _ if env::var("DBLOAD_REQUIRE")
                .is_ok_and(|list| list.split(',').any(|e| e == "pg")) =>
            {
                panic!("DBLOAD_TEST_{name}_URL or _BIN is not set, and DBLOAD_REQUIRE asks for it")
            }
            _ => {
                eprintln!("SKIPPED: DBLOAD_TEST_{name}_URL is not set (see scripts/servers)");
                None
            }
        }
    }

    fn database(self) -> Database {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("dbload_test_{}_{number}", process::id());
        self.psql("postgres", &format!("CREATE DATABASE {name}"));
        Database { server: self, name }
    }

    fn url_of(&self, url: &str, database: &str) -> String {
        let (address, options) = url.split_once('?').unwrap_or((url, ""));
        let (address, _) = address.rsplit_once('/').expect("a URL that ends in a database");
        let mark = if options.is_empty() { "" } else { "?" };
        format!("{address}/{database}{mark}{options}")
    }

    fn psql(&self, database: &str, sql: &str) -> String {
        text_of(&mut self.command(database, sql))
    }

    fn command(&self, database: &str, sql: &str) -> Command {
        let mut psql = Command::new(self.bin.join("psql"));
        psql.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", &self.url_of(&self.url, database)]);
        // One option for each statement: together they would be one transaction block.
        for statement in sql.split(';') {
            psql.args(["-c", statement]);
        }
        psql
    }
}

impl Database {
    /// A new, empty database; `None` when the server is absent and need not be there.
    pub(crate) fn create(server: &str) -> Option<Self> {
        Some(Server::from_env(server)?.database())
    }

    /// Another new database on the same server.
    pub(crate) fn sibling(&self) -> Self {
        Self::create(&self.server.name).expect("the server is there")
    }

    /// The URL of this database.
    pub(crate) fn url(&self) -> String {
        self.server.url_of(&self.server.url, &self.name)
    }

    /// The URL of this database for the role that has to give a password.
    pub(crate) fn password_url(&self) -> String {
        let variable = format!("DBLOAD_TEST_{}_PASSWORD_URL", self.server.name);
        let url = env::var(&variable).unwrap_or_else(|_| panic!("{variable} is not set"));
        self.server.url_of(&url, &self.name)
    }

    /// The rows of a query, columns joined by `|`.
    pub(crate) fn sql(&self, sql: &str) -> String {
        self.server.psql(&self.name, sql).trim_end().to_owned()
    }

    /// The one number that a query returns.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        let text = self.sql(sql);
        text.parse().unwrap_or_else(|_| panic!("{sql} returned {text:?}"))
    }

    /// The number of rows of `table`.
    pub(crate) fn rows(&self, table: &str) -> u64 {
        let rows = self.number(&format!("SELECT count(*) FROM {table}"));
        u64::try_from(rows).expect("a count")
    }

    /// Runs the server's own pgbench here and returns its report.
    pub(crate) fn pgbench(&self, args: &[&str]) -> String {
        let mut pgbench = Command::new(self.server.bin.join("pgbench"));
        text_of(pgbench.args(args).arg(self.url()))
    }

    /// The processes that serve this database now.
    pub(crate) fn backends(&self) -> Vec<i32> {
        let pids = self.sql(
            "SELECT pid FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );
        pids.lines().map(|pid| pid.parse().expect("a process id")).collect()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // A second panic would hide the message of the first; a killed server has no databases.
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        let mut command = self.server.command("postgres", &drop);
        let _ = command.stderr(process::Stdio::null()).status();
    }
}

/// Standard output of a command that must succeed.
fn text_of(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{command:?}: {status}\n{stderr}");
    String::from_utf8(stdout).expect("UTF-8")
}
