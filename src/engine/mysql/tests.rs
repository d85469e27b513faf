//! Against a real server: `DBLOAD_TEST_MYSQL_URL` names one whose user has a password and may make
//! databases. Without it a test says SKIPPED, unless `DBLOAD_REQUIRE` names `mysql`.

use super::connect::Connector;
use crate::engine::{Admin, DbError, Engine, ErrorKind};
use crate::target::{Env, MySqlHost, MySqlTarget, Secret, Target, TargetArgs, TlsMode};

/// The variable's value; `None` says SKIPPED.
fn required(variable: &str) -> Option<String> {
    let value = std::env::var(variable).ok();
    if value.is_none() {
        let wanted = std::env::var("DBLOAD_REQUIRE").unwrap_or_default();
        assert!(!wanted.split(',').any(|name| name == "mysql"), "{variable} is not set");
        println!("SKIPPED: {variable} is not set");
    }
    value
}

fn parse(url: String) -> MySqlTarget {
    let args = TargetArgs { targets: vec![url], ..TargetArgs::default() };
    match args.resolve(&Env::default()).unwrap().remove(0).target {
        Target::MySql(target) => target,
        _ => panic!("the URL is not MySQL's"),
    }
}

fn server() -> Option<MySqlTarget> {
    required("DBLOAD_TEST_MYSQL_URL").map(parse)
}

/// The first cell that a query returns over a new connection.
async fn ask(target: &MySqlTarget, sql: &str) -> Result<String, DbError> {
    let engine = super::MySql::new(Connector::new(target.clone())?);
    let mut admin = engine.admin().await?;
    Ok(admin.rows(sql).await?.remove(0).remove(0).unwrap_or_default())
}

#[tokio::test]
async fn a_connection_asked_for_over_tcp_stays_there_and_a_socket_is_one() {
    let Some(mut target) = server() else { return };
    // A socket's connection has no port in the list of processes.
    let host = "select host from information_schema.processlist where id = connection_id()";
    assert!(ask(&target, host).await.unwrap().contains(':'));
    let Some(socket) = required("DBLOAD_TEST_MYSQL_SOCKET") else { return };
    target.host = MySqlHost::Socket(socket.into());
    assert_eq!(ask(&target, host).await.unwrap(), "localhost");
}

#[tokio::test]
async fn every_refusal_says_what_to_do_and_no_password() {
    let Some(target) = server() else { return };
    let absent_port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let at = |name: &str, port| MySqlHost::Tcp { name: name.into(), port };
    let wrong = Some(Secret::new("hunter3wrong"));
    let cases = [
        (
            MySqlTarget { password: wrong, ..target.clone() },
            "1045",
            "refused the password for user",
        ),
        (MySqlTarget { password: None, ..target.clone() }, "1045", "MYSQL_PWD or ~/.my.cnf"),
        (MySqlTarget { database: "nodb".into(), ..target.clone() }, "1049", "CREATE DATABASE nodb"),
        (
            MySqlTarget { host: at("127.0.0.1", absent_port), ..target.clone() },
            "",
            "is the port right?",
        ),
        (
            MySqlTarget { host: MySqlHost::Socket("/none/s".into()), ..target.clone() },
            "",
            "no server has its socket at /none/s",
        ),
        (
            MySqlTarget { host: at("no-such-host.invalid", 3306), ..target.clone() },
            "",
            "cannot be looked up",
        ),
    ];
    let password = target.password.clone().unwrap();
    for (target, code, words) in cases {
        let error = ask(&target, "select 1").await.unwrap_err();
        let text = format!("{error} {error:?}");
        assert_eq!((error.kind(), error.code()), (ErrorKind::Connect, code), "{text}");
        assert!(text.contains(words), "{text}");
        assert!(!text.contains(password.expose()) && !text.contains("hunter3wrong"), "{text}");
    }
}

#[tokio::test]
async fn a_missing_password_is_asked_for_once_and_kept() {
    let Some(target) = server() else { return };
    let password = target.password.clone();
    let mut connector = Connector::new(MySqlTarget { password: None, ..target }).unwrap();
    let error = connector.check(|_| None).await.unwrap_err();
    assert!(error.to_string().contains("without a password"), "{error}");
    connector
        .check(|what| {
            assert!(what.starts_with("Password for user "), "{what}");
            password
        })
        .await
        .unwrap();
    connector.connect().await.unwrap();
    connector.check(|_| panic!("it is known now")).await.unwrap();
}

#[tokio::test]
async fn encryption_is_as_the_mode_says() {
    let Some(mut target) = server() else { return };
    let cipher = "show status like 'Ssl_cipher'";
    target.tls = TlsMode::Disabled;
    let engine = super::MySql::new(Connector::new(target.clone()).unwrap());
    let rows = engine.admin().await.unwrap().rows(cipher).await.unwrap();
    assert_eq!(rows[0][1].as_deref(), Some(""));
    let until = engine.admin().await.unwrap().rows("show status like 'Ssl_server_not_after'").await;
    let can = until.unwrap()[0][1].as_deref().is_some_and(|until| !until.is_empty());
    target.tls = TlsMode::Required;
    let engine = super::MySql::new(Connector::new(target).unwrap());
    match engine.admin().await {
        Ok(mut admin) => {
            assert!(can);
            assert_ne!(admin.rows(cipher).await.unwrap()[0][1].as_deref(), Some(""));
        }
        Err(error) => {
            assert!(!can, "{error}");
            assert!(error.to_string().contains("does not encrypt connections"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_new_account_logs_in_over_plain_tcp() {
    let Some(mut target) = server() else { return };
    target.tls = TlsMode::Disabled;
    let engine = super::MySql::new(Connector::new(target.clone()).unwrap());
    let mut admin = engine.admin().await.unwrap();
    let mariadb = ask(&target, "select @@version").await.unwrap().contains("MariaDB");
    // MySQL has not seen the account yet: it wants the password itself, by its RSA key.
    let (plugin, create) = match mariadb {
        true => ("mysql_native_password", "via mysql_native_password using password('p_w')"),
        false => ("caching_sha2_password", "with caching_sha2_password by 'p_w'"),
    };
    let user = format!("dbload_{plugin}");
    admin.batch(&format!("drop user if exists {user}@localhost")).await.unwrap();
    admin.batch(&format!("create user {user}@localhost identified {create}")).await.unwrap();
    admin.batch(&format!("grant all on test.* to {user}@localhost")).await.unwrap();
    let password = Some(Secret::new("p_w"));
    let target = MySqlTarget { user: user.clone(), password, ..target };
    let who = ask(&target, "select current_user()").await.unwrap();
    assert_eq!(who, format!("{user}@localhost"));
    let wrong = MySqlTarget { password: Some(Secret::new("p")), ..target };
    assert_eq!(ask(&wrong, "select 1").await.unwrap_err().code(), "1045");
    admin.batch(&format!("drop user {user}@localhost")).await.unwrap();
}

#[tokio::test]
async fn a_server_that_says_nothing_runs_into_the_timeout() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("mysql://u:hunter2@127.0.0.1:{port}/d?connect-timeout=1");
    let error = ask(&parse(url), "select 1").await.unwrap_err();
    assert!(error.to_string().contains("did not answer within 1 s"), "{error}");
}
