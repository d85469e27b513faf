//! URLs, the option file and the environment, in their order of precedence.

use super::*;

fn built(url: &str, env: &Env) -> Result<MySqlTarget, String> {
    let parsed = Url::parse(url)?;
    build(parsed, &crate::target::redact(url), env)
        .map(|(target, _)| target)
        .map_err(|error| error.to_string())
}

fn target(url: &str) -> MySqlTarget {
    built(url, &Env::new([], None, Some("me"), None)).unwrap()
}

fn refusal(url: &str) -> String {
    built(url, &Env::new([], None, Some("me"), None)).unwrap_err()
}

/// A home folder with that option file.
fn home(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(".my.cnf"), text).unwrap();
    folder
}

#[test]
fn a_full_url_says_everything_and_shows_no_password() {
    let target = target("mariadb://u%65r:hunter2@db.example:3307/my%20db?ssl-mode=required");
    assert_eq!(target.scheme, "mariadb");
    assert_eq!((target.user.as_str(), target.database.as_str()), ("uer", "my db"));
    assert_eq!(target.password.as_ref().unwrap().expose(), "hunter2");
    assert_eq!(target.tls, TlsMode::Required);
    assert_eq!(target.place(), "db.example:3307");
    assert_eq!(target.to_string(), "mariadb://uer@db.example:3307/my%20db?ssl-mode=REQUIRED");
    assert!(!format!("{target:?}").contains("hunter2"));
}

#[test]
fn localhost_is_tcp_and_a_socket_is_named_by_its_path() {
    assert_eq!(target("mysql://localhost/d").place(), "localhost:3306");
    assert_eq!(target("mysql:///d").place(), "localhost:3306");
    assert_eq!(target("mysql://[::1]:33/d").place(), "[::1]:33");
    for url in ["mysql:///d?socket=/run/my.sock", "mysql://%2Frun%2Fmy.sock/d"] {
        assert!(target(url).is_socket());
        assert_eq!(target(url).to_string(), "mysql://me@/d?socket=/run/my.sock");
    }
    assert!(target("mysql://localhost/d?socket=/s").is_socket());
    assert!(refusal("mysql://h/d?socket=/s").contains("both a host (\"h\") and a socket"));
}

#[test]
fn what_is_missing_unknown_or_wrong_is_said() {
    for (url, words) in [
        ("mysql://u@h", "no database is named: write mysql://USER@HOST:PORT/DATABASE"),
        ("mysql://u@h/d?sokcet=/s", "unknown parameter \"sokcet\"; did you mean \"socket\"?"),
        ("mysql://u@h/d?ssl_mode=on", "ssl-mode is \"on\", allowed is DISABLED, PREFERRED"),
        ("mysql://u@h/d?connect-timeout=-1", "a whole number of seconds"),
        ("mysql://u@h/d?port=0", "a number from 1 to 65535"),
    ] {
        let problem = refusal(url);
        assert!(problem.contains(words), "{url}: {problem}");
    }
    assert!(built("mysql://h/d", &Env::default()).unwrap_err().contains("no user is named"));
}

#[test]
fn the_spellings_of_the_tls_mode_are_those_of_both_families() {
    for text in ["ssl-mode=VERIFY_CA", "ssl_mode=verify_ca", "sslmode=verify-ca"] {
        assert_eq!(target(&format!("mysql://h/d?{text}")).tls, TlsMode::VerifyCa);
    }
    let target = target("mysql://h/d?ssl-ca=/ca.pem&connect-timeout=0");
    assert_eq!(target.ca.as_deref(), Some(std::path::Path::new("/ca.pem")));
    assert_eq!(target.connect_timeout, None);
}

#[test]
fn the_option_file_completes_the_url_and_the_environment_comes_before_it() {
    let home = home(
        "[mysqld]\nuser = no\n[client]\nuser=bench\npassword=\"from file\"\nhost=db\nport = 3310\n\
         default-character-set = utf8mb4\n",
    );
    let env = |vars: &[(&'static str, &'static str)]| {
        Env::new(vars.iter().copied(), Some(home.path()), Some("me"), None)
    };
    let target = built("mysql:///d", &env(&[])).unwrap();
    assert_eq!(target.to_string(), "mysql://bench@db:3310/d");
    assert_eq!(target.password.unwrap().expose(), "from file");
    let target = built("mysql:///d", &env(&[("MYSQL_PWD", "from env")])).unwrap();
    assert_eq!(target.password.unwrap().expose(), "from env");
    // Another server of the URL's is not mixed with the file's.
    let target = built("mysql://you:url@other/d", &env(&[("MYSQL_PWD", "from env")])).unwrap();
    assert_eq!(target.to_string(), "mysql://you@other:3306/d");
    assert_eq!(target.password.unwrap().expose(), "url");
}
