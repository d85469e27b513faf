//! Takes passwords out of text that people and files will see.
//!
//! A URL whose grammar is sound loses exactly its password. Anything else that looks like a URL may
//! hold a password anywhere, so all of it goes up to the last `@`: rather too much than too little.

use super::url::{self, RawUrl};

const STARS: &str = "***";

/// Takes the secrets out of a command line's arguments, for the record of a run.
pub fn redact_args<S: AsRef<str>>(args: &[S]) -> Vec<String> {
    args.iter().map(|arg| redact(arg.as_ref())).collect()
}

/// Takes the secrets out of one argument: a URL, `NAME=URL`, `--target=URL`, or libpq's
/// `key=value` words. Other text comes back as it is.
pub fn redact(text: &str) -> String {
    let Some(colon) = text.find(':') else { return redact_words(text) };
    let start = text[..colon].rfind('=').map_or(0, |equals| equals + 1);
    let (prefix, url) = text.split_at(start);
    let scheme = &text[start..colon];
    let is_url = url[scheme.len()..].starts_with("://") || url.contains('@');
    if scheme.eq_ignore_ascii_case("sqlite") || !is_url {
        return redact_words(text);
    }
    let redacted = match RawUrl::split(url) {
        Ok(raw) => redact_sound(url, &raw),
        Err(_) => redact_unsound(url),
    };
    format!("{}{redacted}", redact_words(prefix))
}

/// Takes the secrets of what was given (a command line's arguments, a variable's value) out of a
/// message that may quote it. The message's own words stay, whatever they look like.
pub fn redact_quoted<S: AsRef<str>>(message: &str, given: &[S]) -> String {
    let mut parts: Vec<&str> = given.iter().flat_map(|given| quotable(given.as_ref())).collect();
    // What holds another one comes first.
    parts.sort_unstable_by_key(|part| std::cmp::Reverse(part.len()));
    let mut shown = message.to_owned();
    for part in parts {
        let redacted = redact(part);
        if redacted != part {
            shown = shown.replace(part, &redacted);
        }
    }
    shown
}

/// An argument, and what a message may quote of it: the value of `--option=VALUE` or `-oVALUE`.
fn quotable(given: &str) -> Vec<&str> {
    let mut parts = vec![given];
    parts.extend(given.match_indices('=').map(|(at, _)| &given[at + 1..]));
    if given.starts_with('-') && !given.starts_with("--") {
        parts.extend(given.get(2..));
    }
    parts
}

fn redact_sound(url: &str, raw: &RawUrl<'_>) -> String {
    let secrets = raw.query.iter().filter(|(key, _)| is_secret_key(key)).map(|(_, value)| *value);
    let mut spans: Vec<(usize, usize)> = raw
        .password
        .into_iter()
        .chain(secrets)
        .filter(|secret| !secret.is_empty())
        .map(|secret| {
            // Both are slices of `url`: the distance of their starts is the place.
            let start = secret.as_ptr().addr() - url.as_ptr().addr();
            (start, start + secret.len())
        })
        .collect();
    spans.sort_unstable();
    let mut out = String::with_capacity(url.len());
    let mut end = 0;
    for (start, next_end) in spans {
        out.push_str(&url[end..start]);
        out.push_str(STARS);
        end = next_end;
    }
    out.push_str(&url[end..]);
    out
}

fn redact_unsound(url: &str) -> String {
    let scheme = match url.split_once("://") {
        Some((scheme, _)) if url::split_scheme(url).is_some_and(|(known, _)| known == scheme) => {
            format!("{scheme}://")
        }
        _ => String::new(),
    };
    match url.rsplit_once('@') {
        Some((_, tail)) => format!("{scheme}{STARS}@{tail}"),
        None => format!("{scheme}{STARS}"),
    }
}

/// libpq's `key=value key=value` form: a password may hold quoted blanks, so the rest goes too.
fn redact_words(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    match lower.find("password") {
        Some(at) => match lower[at..].find('=') {
            Some(equals) => format!("{}{STARS}", &text[..=at + equals]),
            None => text.to_owned(),
        },
        None => text.to_owned(),
    }
}

fn is_secret_key(key: &str) -> bool {
    // A key that cannot be decoded is no name of ours; its value may be anything.
    url::decode(key).map_or(true, |key| {
        let key = key.to_ascii_lowercase();
        (key.contains("pass") && key != "passfile")
            || key.contains("secret")
            || key.contains("token")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sound_url_loses_only_its_password() {
        for (given, wanted) in [
            ("postgres://u:hunter2@h:1/db?a=b", "postgres://u:***@h:1/db?a=b"),
            ("pg18=postgres://u:hunter2@h/db", "pg18=postgres://u:***@h/db"),
            ("--target=pg18=postgres://u:hunter2@h/db", "--target=pg18=postgres://u:***@h/db"),
            ("postgres://h/db?password=hunter2&port=1", "postgres://h/db?password=***&port=1"),
            ("postgres://h/?p%61ssword=hunter2", "postgres://h/?p%61ssword=***"),
            ("postgres://u:h@h/h?sslpassword=h", "postgres://u:***@h/h?sslpassword=***"),
            ("postgres://u@h/db", "postgres://u@h/db"),
            ("postgres://u:@h/db", "postgres://u:@h/db"),
        ] {
            assert_eq!(redact(given), wanted);
        }
    }

    #[test]
    fn a_malformed_url_loses_all_that_may_be_a_password() {
        for given in [
            "postgres://u:hunter2",
            "postgres://u:hun/ter2@h/db",
            "postgres://u:12/hunter2@h/db",
            "postgres://u:12?a=hunter2@h/db",
            "postgres://u:x@hunter2@h/db",
            "postgres:u:hunter2@h/db",
            "postgres:/u:hunter2@h/db",
            "u:hunter2@h/db",
            "postgers://u:hunter2#@h",
            "--target=a=postgres://u:hunter2 @h",
            "--target=u:hunter2@h",
            "mysql://u:hun ter2@h",
            "-dpostgres://u:hunter2#@h",
            "host=h password=hunter2",
            "password = 'hunter2 hunter2'",
        ] {
            let shown = redact(given);
            assert!(!shown.contains("hun") && !shown.contains("ter2"), "{given} -> {shown}");
            assert!(shown.contains("***"), "{given} -> {shown}");
        }
    }

    #[test]
    fn a_message_loses_what_it_quotes_of_the_command_line_and_no_more() {
        let given = ["run", "--target=a=u:hunter2@h", "-dpostgres://u:hunter2@h:x/db", "my.sql@x"];
        for (message, wanted) in [
            ("a=u:hunter2@h: wants USER:PASSWORD@HOST", "a=***@h: wants USER:PASSWORD@HOST"),
            ("\"u:hunter2@h\" is no URL", "\"***@h\" is no URL"),
            ("'postgres://u:hunter2@h:x/db' found", "'postgres://***@h:x/db' found"),
            ("my.sql@x: @W wants a number: 3", "my.sql@x: @W wants a number: 3"),
            ("in workload a@2: line 3: b@c", "in workload a@2: line 3: b@c"),
        ] {
            assert_eq!(redact_quoted(message, &given), wanted);
        }
    }

    #[test]
    fn other_arguments_stay_as_they_are() {
        let args = [
            "run",
            "--clients",
            "2,4",
            "tpcb-like@2",
            "-f",
            "a.sql@3",
            "sqlite:a@b.db",
            "--prometheus",
            "127.0.0.1:9090",
            "-D",
            "x=a:b",
            "--duration=10s",
        ];
        assert_eq!(redact_args(&args), args);
    }
}
