//! Parameters of PostgreSQL targets: sources, precedence, refusals.

use super::*;
use crate::target::redact::redact;

const VARS: [(&str, &str); 3] = [("PGUSER", "env"), ("PGPORT", "1111"), ("PGHOST", "envhost")];

fn from_url(text: &str, env: &Env) -> Result<PgTarget, String> {
    let shown = redact(text);
    let url = Url::parse(text)?;
    given_by_url(url, &shown)
        .and_then(|given| build(given, env))
        .map(|(target, _)| target)
        .map_err(|error| error.to_string())
}

fn env<'a>(vars: impl IntoIterator<Item = (&'a str, &'a str)>) -> Env {
    Env::new(vars, None, Some("me"), None)
}

fn tcp(name: &str) -> PgHost {
    PgHost::Tcp { name: name.into(), address: None }
}

#[test]
fn defaults_are_libpqs_but_for_the_timeout() {
    let socket = Env::new([], None, Some("me"), Some("/run/pg".as_ref()));
    let target = from_url("postgres://", &socket).unwrap();
    assert_eq!(
        target,
        PgTarget {
            host: PgHost::Socket("/run/pg".into()),
            port: 5432,
            user: "me".into(),
            database: "me".into(),
            password: None,
            ssl_mode: SslMode::Prefer,
            root_cert: RootCert::None,
            channel_binding: ChannelBinding::Prefer,
            options: None,
            application_name: "dbload".into(),
            connect_timeout: Some(Duration::from_secs(10)),
        }
    );
    assert_eq!(from_url("postgres://", &env([])).unwrap().host, tcp("localhost"));
    assert_eq!(from_url("postgres://u@/", &env([])).unwrap().database, "u");
}

#[test]
fn the_url_wins_over_the_environment() {
    let target = from_url("postgres://u@h/db", &env(VARS)).unwrap();
    assert_eq!((target.user.as_str(), target.port, target.host), ("u", 1111, tcp("h")));
    assert_eq!(target.database, "db");
}

#[test]
fn the_query_wins_over_the_rest_of_the_url() {
    let text = "postgres://u:p@h:1/db?user=q&host=%2Fsrv&port=2&dbname=other&password=hunter2";
    let target = from_url(text, &env([])).unwrap();
    assert_eq!(target.host, PgHost::Socket("/srv".into()));
    assert_eq!((target.user.as_str(), target.port), ("q", 2));
    assert_eq!(target.database, "other");
    assert_eq!(target.password.unwrap().expose(), "hunter2");
}

#[test]
fn the_service_stands_between_url_and_environment() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    std::fs::write(home.join(".pg_service.conf"), "[s]\nuser=svc\nport=2222\n").unwrap();
    let with = |vars: &[(&'static str, &'static str)]| {
        Env::new(VARS.into_iter().chain(vars.iter().copied()), Some(home), None, None)
    };
    let target = from_url("postgres://?service=s", &with(&[])).unwrap();
    assert_eq!((target.user.as_str(), target.port, target.host), ("svc", 2222, tcp("envhost")));
    let target = from_url("postgres://u@", &with(&[("PGSERVICE", "s")])).unwrap();
    assert_eq!((target.user.as_str(), target.port), ("u", 2222));
    let problem = from_url("postgres://?service=t", &with(&[])).unwrap_err();
    assert!(problem.contains("no service [t]"), "{problem}");
}

#[test]
fn hostaddr_replaces_the_look_up_and_not_the_name() {
    let address = Some("10.0.0.1".parse().unwrap());
    let vars = [("PGHOSTADDR", "10.0.0.1")];
    let target = from_url("postgres://", &env(vars)).unwrap();
    assert_eq!(target.host, PgHost::Tcp { name: "10.0.0.1".into(), address });
    let target = from_url("postgres://", &env(vars.into_iter().chain(VARS))).unwrap();
    assert_eq!(target.host, PgHost::Tcp { name: "envhost".into(), address });
    // A host that was named on the command line is the one that is measured.
    assert_eq!(from_url("postgres://h", &env(vars)).unwrap().host, tcp("h"));
}

#[test]
fn the_password_file_is_the_last_resort() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(".pgpass");
    std::fs::write(&file, "h:*:*:u:from-file\n").unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let home = Env::new([], Some(folder.path()), None, None);
    let password = |text: &str, env: &Env| {
        from_url(text, env).unwrap().password.map(|secret| secret.expose().to_owned())
    };
    assert_eq!(password("postgres://u@h", &home).as_deref(), Some("from-file"));
    assert_eq!(password("postgres://u@i", &home), None);
    assert_eq!(password("postgres://u:p@h", &home).as_deref(), Some("p"));
    let named = format!("postgres://u@h?passfile={}", file.display());
    assert_eq!(password(&named, &env([])).as_deref(), Some("from-file"));
    let vars = Env::new([("PGPASSWORD", "var")], Some(folder.path()), None, None);
    assert_eq!(password("postgres://u@h", &vars).as_deref(), Some("var"));
}

#[test]
fn encryption_follows_libpqs_rules() {
    let folder = tempfile::tempdir().unwrap();
    let ssl = |query: &str, home: bool| {
        let env = Env::new([], home.then_some(folder.path()), Some("me"), None);
        let target = from_url(&format!("postgres://h?{query}"), &env)?;
        Ok::<_, String>((target.ssl_mode, target.root_cert))
    };
    assert_eq!(ssl("sslmode=allow", true), Ok((SslMode::Allow, RootCert::None)));
    assert_eq!(ssl("ssl=true", true), Ok((SslMode::Require, RootCert::None)));
    let full = (SslMode::VerifyFull, RootCert::System);
    assert_eq!(ssl("sslrootcert=system", false), Ok(full));
    assert!(ssl("sslrootcert=system&sslmode=require", false).unwrap_err().contains("verify-full"));
    assert!(ssl("sslmode=verify-ca", true).unwrap_err().contains("sslrootcert"));
    let root = folder.path().join(".postgresql/root.crt");
    std::fs::create_dir(root.parent().unwrap()).unwrap();
    std::fs::write(&root, "").unwrap();
    assert_eq!(ssl("sslmode=verify-ca", true), Ok((SslMode::VerifyCa, RootCert::File(root))));
}

#[test]
fn the_other_variables_are_honoured() {
    let vars = [
        ("PGDATABASE", "db"),
        ("PGSSLMODE", "disable"),
        ("PGOPTIONS", "-c work_mem=1MB"),
        ("PGCONNECT_TIMEOUT", "3"),
        ("PGAPPNAME", "bench"),
        ("PGCHANNELBINDING", "require"),
        ("PGSSLROOTCERT", "/ca.pem"),
    ];
    let target = from_url("postgres://h", &env(vars)).unwrap();
    assert_eq!((target.database.as_str(), target.ssl_mode), ("db", SslMode::Disable));
    assert_eq!(target.options.as_deref(), Some("-c work_mem=1MB"));
    assert_eq!(target.connect_timeout, Some(Duration::from_secs(3)));
    assert_eq!(target.application_name, "bench");
    assert_eq!(target.channel_binding, ChannelBinding::Require);
    assert_eq!(target.root_cert, RootCert::File("/ca.pem".into()));
    for forever in ["0", "-1"] {
        let vars = [("PGCONNECT_TIMEOUT", forever)];
        assert_eq!(from_url("postgres://h", &env(vars)).unwrap().connect_timeout, None);
    }
}

#[test]
fn bad_values_are_refused_with_their_source() {
    for (query, words) in [
        ("hots=h", "postgres://h?hots=h: unknown parameter \"hots\"; did you mean \"host\"?"),
        ("sslcert=x", "does not support libpq's parameter \"sslcert\""),
        ("sslmode=on", "sslmode is \"on\", allowed is disable, allow"),
        ("connect_timeout=5s", "a whole number of seconds"),
        ("channel_binding=x", "disable, prefer or require"),
        ("port=0", "a number from 1 to 65535"),
        ("port=5432,5433", "a number from 1 to 65535"),
        ("host=a,b", "one host"),
        ("hostaddr=h", "one IP address"),
        ("client_encoding=latin1", "allowed is UTF8"),
        ("target_session_attrs=read-write", "allowed is any"),
    ] {
        let problem = from_url(&format!("postgres://h?{query}"), &env([])).unwrap_err();
        assert!(problem.contains(words), "{query}: {problem}");
    }
    let problem = from_url("postgres://h", &env([("PGPORT", "x")])).unwrap_err();
    assert_eq!(problem, "PGPORT: port is \"x\", allowed is a number from 1 to 65535");
    let problem = from_url("postgres://h", &Env::default()).unwrap_err();
    assert!(problem.contains("give -U"), "{problem}");
}

#[test]
fn what_is_shown_is_a_url_for_the_same_target_without_the_password() {
    for text in [
        "postgres://u@h:5432/db",
        "postgres://u%40x@[::1]:5433/my%20db?sslmode=require",
        "postgres://u@/db?host=/run/pg",
        "postgres://u@/db?host=/run/pg&port=5433",
        "postgres://u@h:5432/db?hostaddr=10.0.0.1&options=-c%20work_mem%3D1MB",
    ] {
        let target = from_url(text, &env([])).unwrap();
        assert_eq!(target.to_string(), text);
        let secret = PgTarget { password: Some(Secret::new("hunter2")), ..target };
        assert_eq!(secret.to_string(), text);
        assert!(!format!("{secret:?}").contains("hunter2"));
    }
}
