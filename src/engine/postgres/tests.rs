//! Against real servers: `DBLOAD_TEST_PG_URL` names one that lets its user in without a password,
//! `DBLOAD_TEST_PG_TLS_URL` one that encrypts and asks for a password, with the authority of its
//! certificate named in that URL. Without them a test says SKIPPED, unless
//! `DBLOAD_REQUIRE` names `pg`.

mod admin;

use std::path::PathBuf;

use bytes::BytesMut;
use postgres_protocol::message::{backend, frontend};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::connect::{Connected, Connector};
use crate::engine::{DbError, ErrorKind};
use crate::target::{
    ChannelBinding, Env, PgHost, PgTarget, RootCert, Secret, SslMode, Target, TargetArgs,
};

/// The variable's value; `None` says SKIPPED.
fn required(variable: &str) -> Option<String> {
    let value = std::env::var(variable).ok();
    if value.is_none() {
        let wanted = std::env::var("DBLOAD_REQUIRE").unwrap_or_default();
        assert!(!wanted.split(',').any(|name| name == "pg"), "{variable} is not set");
        println!("SKIPPED: {variable} is not set");
    }
    value
}

fn parse(url: String) -> PgTarget {
    let args = TargetArgs { targets: vec![url], ..TargetArgs::default() };
    match args.resolve(&Env::default()).unwrap().remove(0).target {
        Target::Postgres(target) => target,
        _ => panic!("the URL is not PostgreSQL's"),
    }
}

fn trusting() -> Option<PgTarget> {
    required("DBLOAD_TEST_PG_URL").map(parse)
}

/// A server that wants a password and has no encryption.
fn plain() -> Option<PgTarget> {
    required("DBLOAD_TEST_PG18_PASSWORD_URL").map(parse)
}

fn encrypting() -> Option<PgTarget> {
    required("DBLOAD_TEST_PG_TLS_URL").map(parse)
}

async fn connect(target: &PgTarget) -> Result<Connected, DbError> {
    Connector::new(target.clone())?.connect().await
}

/// Sends a query in frames of our own and returns the first column of each row.
async fn ask(connected: &mut Connected, sql: &str) -> Vec<String> {
    let mut request = BytesMut::new();
    frontend::query(sql, &mut request).unwrap();
    connected.stream.write_all(&request).await.unwrap();
    connected.stream.flush().await.unwrap();
    let mut rows = Vec::new();
    loop {
        while let Some(message) = backend::Message::parse(&mut connected.unread).unwrap() {
            match message {
                backend::Message::DataRow(row) => {
                    // Two bytes for the number of columns are gone; four hold the length.
                    rows.push(String::from_utf8(row.buffer()[4..].to_vec()).unwrap());
                }
                backend::Message::ReadyForQuery(_) => return rows,
                backend::Message::ErrorResponse(_) => panic!("{sql} failed"),
                _ => {}
            }
        }
        assert!(connected.stream.read_buf(&mut connected.unread).await.unwrap() > 0);
    }
}

const IS_ENCRYPTED: &str = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

#[tokio::test]
async fn the_stream_is_ours_after_the_login() {
    let Some(target) = trusting() else { return };
    let mut connected = connect(&target).await.unwrap();
    assert_eq!(ask(&mut connected, "SELECT 40 + 2").await, ["42"]);
    assert_eq!(ask(&mut connected, "SHOW application_name").await, ["dbload"]);
}

#[tokio::test]
async fn a_unix_socket_works_and_is_never_encrypted() {
    let Some(mut target) = trusting() else { return };
    let mut connected = connect(&target).await.unwrap();
    let folders = ask(&mut connected, "SHOW unix_socket_directories").await.remove(0);
    let folder = folders.split(',').next().unwrap().trim();
    if folder.is_empty() {
        println!("SKIPPED: the server has no socket");
        return;
    }
    target.host = PgHost::Socket(PathBuf::from(folder));
    target.ssl_mode = SslMode::Require;
    let mut connected = connect(&target).await.unwrap();
    assert_eq!(ask(&mut connected, IS_ENCRYPTED).await, ["f"]);
}

#[tokio::test]
async fn server_options_reach_the_session() {
    let Some(mut target) = trusting() else { return };
    target.options = Some("-c work_mem=7MB -c search_path=x,\\ y".into());
    let mut connected = connect(&target).await.unwrap();
    assert_eq!(ask(&mut connected, "SHOW work_mem").await, ["7MB"]);
    assert_eq!(ask(&mut connected, "SHOW search_path").await, ["x, y"]);
}

#[tokio::test]
async fn a_running_statement_is_cancelled() {
    for target in [trusting(), encrypting()].into_iter().flatten() {
        let connector = Connector::new(target).unwrap();
        let (client, _) = connector.connect_client().await.unwrap();
        let token = client.cancel_token();
        let sleeping = client.batch_execute("SELECT pg_sleep(60)");
        tokio::pin!(sleeping);
        // Again and again: a request that comes before the statement has begun cancels nothing.
        let result = loop {
            tokio::select! {
                result = &mut sleeping => break result,
                () = tokio::time::sleep(std::time::Duration::from_millis(20)) => {
                    connector.cancel(&token).await;
                }
            }
        };
        let error = super::error::from_driver(&result.unwrap_err());
        assert_eq!((error.kind(), error.code()), (ErrorKind::Cancelled, "57014"));
    }
}

#[tokio::test]
async fn a_password_is_checked_with_channel_binding() {
    let Some(mut target) = encrypting() else { return };
    target.channel_binding = ChannelBinding::Require;
    let mut connected = connect(&target).await.unwrap();
    assert!(connected.stream.is_encrypted());
    assert_eq!(ask(&mut connected, IS_ENCRYPTED).await, ["t"]);
    // Large enough for many TLS records and reads.
    let long = ask(&mut connected, "SELECT repeat('x', 1000000)").await;
    assert_eq!(long[0].len(), 1_000_000);
    let Some(mut target) = plain() else { return };
    target.channel_binding = ChannelBinding::Require;
    target.ssl_mode = SslMode::Disable;
    let error = connect(&target).await.err().unwrap();
    assert!(error.to_string().contains("channel binding"), "{error}");
}

#[tokio::test]
async fn a_password_is_checked_without_encryption() {
    let Some(mut target) = plain() else { return };
    target.ssl_mode = SslMode::Disable;
    let mut connected = connect(&target).await.unwrap();
    assert_eq!(ask(&mut connected, IS_ENCRYPTED).await, ["f"]);
    target.ssl_mode = SslMode::Allow;
    let mut connected = connect(&target).await.unwrap();
    assert_eq!(ask(&mut connected, IS_ENCRYPTED).await, ["f"]);
}

#[tokio::test]
async fn certificates_are_verified_as_far_as_sslmode_says() {
    let Some(target) = encrypting() else { return };
    let RootCert::File(ca) = &target.root_cert else { panic!("the URL names no root certificate") };
    let ca = ca.display().to_string();
    let by = |mode, root: Option<&str>, name: &str| {
        let mut target = target.clone();
        target.ssl_mode = mode;
        target.root_cert = root.map_or(RootCert::None, |path| RootCert::File(path.into()));
        let address = "127.0.0.1".parse().ok();
        target.host = PgHost::Tcp { name: name.into(), address };
        target
    };
    let folder = tempfile::tempdir().unwrap();
    let stranger = folder.path().join("stranger.crt");
    std::fs::write(&stranger, STRANGER).unwrap();
    let stranger = stranger.to_str();
    for target in [
        by(SslMode::Prefer, stranger, "other.example"),
        by(SslMode::Require, None, "other.example"),
        by(SslMode::Require, Some(&ca), "other.example"),
        by(SslMode::VerifyCa, Some(&ca), "other.example"),
        by(SslMode::VerifyFull, Some(&ca), "localhost"),
    ] {
        let mut connected = connect(&target).await.unwrap();
        assert_eq!(ask(&mut connected, IS_ENCRYPTED).await, ["t"]);
    }
    for target in [
        by(SslMode::Require, stranger, "localhost"),
        by(SslMode::VerifyCa, stranger, "localhost"),
        by(SslMode::VerifyFull, stranger, "localhost"),
        by(SslMode::VerifyFull, Some(&ca), "other.example"),
    ] {
        let error = connect(&target).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Connect);
        assert!(error.to_string().contains("certificate"), "{error}");
    }
    for (path, words) in [("/none.pem", "No such file"), ("/dev/null", "holds no certificate")] {
        let error = connect(&by(SslMode::VerifyCa, Some(path), "localhost")).await.err().unwrap();
        assert!(error.to_string().contains(words) && error.to_string().contains(path), "{error}");
    }
}

#[tokio::test]
async fn a_server_without_encryption_is_refused_when_it_is_asked_for() {
    let Some(mut target) = trusting() else { return };
    target.ssl_mode = SslMode::Prefer;
    let mut connected = connect(&target).await.unwrap();
    if ask(&mut connected, "SHOW ssl").await == ["on"] {
        return;
    }
    target.ssl_mode = SslMode::Require;
    let error = connect(&target).await.err().unwrap();
    assert!(error.to_string().contains("does not encrypt connections"), "{error}");
}

#[tokio::test]
async fn every_refusal_says_what_to_do_and_no_password() {
    let Some(target) = encrypting() else { return };
    let absent_port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let local = || PgHost::Tcp { name: "127.0.0.1".into(), address: None };
    let wrong = || Some(Secret::new("hunter3wrong"));
    let cases = [
        (
            PgTarget { password: wrong(), ..target.clone() },
            "28P01",
            "refused the password for user",
        ),
        (PgTarget { password: None, ..target.clone() }, "", "put it into ~/.pgpass or PGPASSWORD"),
        (PgTarget { user: "nobody".into(), ..target.clone() }, "28P01", "user \"nobody\""),
        (PgTarget { database: "no db".into(), ..target.clone() }, "3D000", "createdb no db"),
        (PgTarget { host: local(), port: absent_port, ..target.clone() }, "", "is the port right?"),
        (
            PgTarget { host: PgHost::Socket("/none".into()), ..target.clone() },
            "",
            "/none/.s.PGSQL.",
        ),
        (
            PgTarget {
                host: PgHost::Tcp { name: "no-such-host.invalid".into(), address: None },
                ..target.clone()
            },
            "",
            "cannot be looked up",
        ),
    ];
    let password = target.password.clone().unwrap();
    for (target, code, words) in cases {
        let error = connect(&target).await.err().unwrap();
        let text = format!("{error} {error:?}");
        assert_eq!((error.kind(), error.code()), (ErrorKind::Connect, code), "{text}");
        assert!(text.contains(words), "{text}");
        assert!(!text.contains(password.expose()) && !text.contains("hunter3wrong"), "{text}");
    }
}

#[tokio::test]
async fn a_missing_password_is_asked_for_once_and_kept() {
    let Some(target) = encrypting() else { return };
    let password = target.password.clone();
    let bare = PgTarget { password: None, ..target.clone() };
    let mut connector = Connector::new(bare.clone()).unwrap();
    let error = connector.check(|_| None).await.unwrap_err();
    assert!(error.to_string().contains("wants a password"), "{error}");
    connector
        .check(|what| {
            assert!(what.starts_with("Password for user "), "{what}");
            password
        })
        .await
        .unwrap();
    connector.connect().await.unwrap();
    connector.check(|_| panic!("it is known now")).await.unwrap();
    let wrong = connector_with_answer(bare, "wrong").await;
    assert_eq!(wrong.unwrap_err().code(), "28P01");
}

async fn connector_with_answer(target: PgTarget, answer: &str) -> Result<(), DbError> {
    Connector::new(target)?.check(|_| Some(Secret::new(answer))).await
}

#[tokio::test]
async fn a_server_that_says_nothing_runs_into_the_timeout() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("postgres://u:hunter2@127.0.0.1:{port}/d?connect_timeout=1");
    let error = connect(&parse(url)).await.err().unwrap();
    assert!(error.to_string().contains("did not answer within 1 s"), "{error}");
}

#[tokio::test]
async fn a_server_that_hangs_up_is_said_to() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut startup = [0; 8];
        stream.read_exact(&mut startup).await.unwrap();
    };
    let target = parse(format!("postgres://u:hunter2@127.0.0.1:{port}/d?sslmode=disable"));
    let (result, ()) = tokio::join!(connect(&target), serve);
    let text = result.err().unwrap().to_string();
    assert!(text.contains("is it a PostgreSQL server?") || text.contains("reset"), "{text}");
}

/// A self-signed certificate that no server of ours uses.
const STRANGER: &str = "\
-----BEGIN CERTIFICATE-----
MIIDATCCAemgAwIBAgIUQiOc8N8hOAWbmsN8m1Dy80uiCn4wDQYJKoZIhvcNAQEL
BQAwEDEOMAwGA1UEAwwFb3RoZXIwHhcNMjYxMTMwMjE1NTE0WhcNMjYxMjMwMjE1
NTE0WjAQMQ4wDAYDVQQDDAVvdGhlcjCCASIwDQYJKoZIhvcNAQEBBQADggEPADCC
AQoCggEBALzSHDoEmHuUy7ogV0FfUTxwFoi4mwAWuBZ7fopgWrztqnvk3YPPk2Oj
Yn7fXdDtvFHHfZ9Irg97Q0Wih2OV4YdDF+BCKj/KdJ4CAiBfoTWR++TPCFDy2NQB
bZAkkbUSzwNrCpo7p22cyzyYuo3J20/W9Yp1pdj1QnumSNYQy9I19I8EMMtNsIuP
bm7Jjs3HjnGeQK2Uk9sHoIfatTX+sFCQs8xmHC8gP67dLJBT66+mGemb8MPshfY/
lbvSn7cZDwXjJFF+dSy20wQO7qq/BMqNi0S1zql10iXzRy4d3K9KleFaUwRM2HS/
KxwA+pO9yOwtMnAeFFScVPorBPvm9gMCAwEAAaNTMFEwHQYDVR0OBBYEFKX7SMci
iUpyD2EMmR3SvUt8xNewMB8GA1UdIwQYMBaAFKX7SMciiUpyD2EMmR3SvUt8xNew
MA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQADggEBAAy93qG5fmki7H7h
+a/Q6Aq5LJ+wYQa1X3dvkl4E/qvzmiL2nLx48CIbIgrhQhiLZKkiTfNiUA85i1+D
XLBvwblwiCt3B0nbbXMWx/BUw8WsLCohNcLDxEPobpXhITm9E8tZ/DBRBTZkdM8j
0Ee3zzA2Z1tc+XS+7iO/SMcWmFVtrGsPY5S9VAXDOLBroP5wCaADJfv+dkYHU0y/
iWhqcO297d6DfMmrC6uoLct7GEXCeVsvDcUWttzSbLf69ttzBOVFKPBlJ19kyGDn
EvcOWrDntwPuc2I1FR1FFEgFS3MKgcGpiFUOKd2BHdaRlEvgpWXcgwrunkYKv/6g
RzAvcrU=
-----END CERTIFICATE-----
";
