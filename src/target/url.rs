//! The grammar of database URLs: `scheme://user:password@host:port/path?key=value&key=value`.
//!
//! Stricter than libpq on purpose: a character that could be part of an unencoded password (`@`,
//! `/`, `?`, `#` in the wrong place) makes the URL malformed rather than silently another URL.
//! Problems are sentences that never quote the URL, because it may hold a password.

use super::secret::Secret;

/// A URL in parts, percent-decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) scheme: String,
    pub(super) user: Option<String>,
    pub(super) password: Option<Secret>,
    pub(super) host: Option<String>,
    pub(super) port: Option<u16>,
    pub(super) path: Option<String>,
    pub(super) query: Vec<(String, String)>,
}

/// The parts of a URL as they stand in the text.
#[derive(Debug, Default)]
pub(super) struct RawUrl<'a> {
    pub(super) scheme: &'a str,
    pub(super) user: Option<&'a str>,
    pub(super) password: Option<&'a str>,
    host: &'a str,
    port: Option<&'a str>,
    path: Option<&'a str>,
    pub(super) query: Vec<(&'a str, &'a str)>,
}

impl<'a> RawUrl<'a> {
    /// Takes the text apart; `Err` is a sentence about what is wrong.
    pub(super) fn split(text: &'a str) -> Result<Self, String> {
        let (scheme, rest) = split_scheme(text).ok_or("it does not start with a scheme")?;
        let rest = rest.strip_prefix("//").ok_or_else(|| format!("\"{scheme}:\" wants \"//\""))?;
        if rest.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err("a blank has to be written as %20".into());
        }
        if rest.contains('#') {
            return Err("a # has to be written as %23".into());
        }
        let (place, query) = match rest.split_once('?') {
            Some((place, query)) => (place, split_query(query)?),
            None => (rest, Vec::new()),
        };
        let (authority, path) = match place.split_once('/') {
            Some((authority, path)) => (authority, Some(path)),
            None => (place, None),
        };
        let inside = authority.matches('@').count();
        if inside > 1 || rest.matches('@').count() > inside {
            return Err("write an @ inside a user name, password or value as %40, a / as %2F \
                        and a ? as %3F"
                .into());
        }
        let (user, password, server) = match authority.split_once('@') {
            None => (None, None, authority),
            Some((info, server)) => match info.split_once(':') {
                Some((user, password)) => (Some(user), Some(password), server),
                None => (Some(info), None, server),
            },
        };
        let (host, port) = split_server(server)?;
        Ok(Self { scheme, user, password, host, port, path, query })
    }
}

impl Url {
    /// Parses and decodes; `Err` is a sentence about what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let raw = RawUrl::split(text)?;
        let decode_some = |part: Option<&str>| match part {
            None | Some("") => Ok(None),
            Some(part) => decode(part).map(Some),
        };
        let port = match raw.port {
            None | Some("") => None,
            // Not quoted: it is the password when the @ was forgotten.
            Some(digits) => {
                Some(parse_port(digits).ok_or("the port is no number from 1 to 65535")?)
            }
        };
        let mut query = Vec::with_capacity(raw.query.len());
        for (key, value) in &raw.query {
            query.push((decode(key)?, decode(value)?));
        }
        Ok(Self {
            scheme: raw.scheme.to_ascii_lowercase(),
            user: decode_some(raw.user)?,
            password: decode_some(raw.password)?.map(Secret::new),
            host: decode_some(Some(raw.host))?,
            port,
            path: decode_some(raw.path)?,
            query,
        })
    }
}

/// Splits `scheme:rest` where the scheme has the form that RFC 3986 gives it.
pub(super) fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let mut letters = scheme.chars();
    (letters.next()?.is_ascii_alphabetic()
        && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
    .then_some((scheme, rest))
}

/// A TCP port, from 1.
pub(super) fn parse_port(digits: &str) -> Option<u16> {
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None; // `u16::from_str` takes a plus sign
    }
    digits.parse().ok().filter(|port| *port > 0)
}

fn split_server(server: &str) -> Result<(&str, Option<&str>), String> {
    if server.contains(',') {
        return Err("several hosts in one URL: name one, or give one --target for each".into());
    }
    if let Some(rest) = server.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or("the [ of an IPv6 address has no ]")?;
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err("after the ] of an IPv6 address comes : and a port, or nothing".into()),
        };
    }
    match server.split_once(':') {
        None => Ok((server, None)),
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => Ok((host, Some(port))),
        Some(_) => Err("the port is no number from 1 to 65535 (a user and password end with @, \
                        an IPv6 address stands in [ ])"
            .into()),
    }
}

fn split_query(query: &str) -> Result<Vec<(&str, &str)>, String> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| match pair.split_once('=') {
            Some((key, value)) if !key.is_empty() => Ok((key, value)),
            _ => Err("after the ? come NAME=VALUE, separated by &".into()),
        })
        .collect()
}

/// Takes percent escapes out.
pub(super) fn decode(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|b| char::from(b).to_digit(16));
        match (digit(), digit()) {
            (Some(high), Some(low)) => {
                let value = u8::try_from(high * 16 + low).expect("two hexadecimal digits");
                if value == 0 {
                    return Err("%00 cannot be part of it".into());
                }
                bytes.push(value);
            }
            _ => return Err("a % is followed by two hexadecimal digits (a % itself is %25)".into()),
        }
    }
    String::from_utf8(bytes).map_err(|_| "the decoded text is not UTF-8".into())
}

/// Puts percent escapes in, so that any text can be part of a URL; `keep` stays as it is.
pub(super) fn encode(text: &str, keep: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii_alphanumeric()
            || "-_.~".contains(character)
            || keep.contains(character)
        {
            out.push(character);
        } else {
            let mut buffer = [0; 4];
            for byte in character.encode_utf8(&mut buffer).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn a_full_url_comes_apart() {
        let url =
            parse("Postgres://us%65r:p%40ss%2F@db.example:5433/my%20db?sslmode=require&a=b%3D");
        assert_eq!(url.scheme, "postgres");
        assert_eq!(url.user.as_deref(), Some("user"));
        assert_eq!(url.password.unwrap().expose(), "p@ss/");
        assert_eq!(url.host.as_deref(), Some("db.example"));
        assert_eq!(url.port, Some(5433));
        assert_eq!(url.path.as_deref(), Some("my db"));
        let query = [("sslmode".into(), "require".into()), ("a".into(), "b=".into())];
        assert_eq!(url.query, query);
    }

    #[test]
    fn every_part_may_be_absent() {
        assert_eq!(parse("postgres://"), Url { scheme: "postgres".into(), ..Url::default() });
        let url = parse("postgres:///db?");
        assert_eq!((url.host, url.path.as_deref()), (None, Some("db")));
        let url = parse("postgres://:secret@/");
        assert_eq!((url.user, url.path), (None, None));
        assert_eq!(url.password.unwrap().expose(), "secret");
    }

    #[test]
    fn a_host_may_be_an_address_or_an_encoded_folder() {
        let url = parse("postgres://[::1]:5433/db");
        assert_eq!((url.host.as_deref(), url.port), (Some("::1"), Some(5433)));
        assert_eq!(parse("postgres://[::1]").host.as_deref(), Some("::1"));
        let url = parse("postgres://%2Fvar%2Frun/db");
        assert_eq!(url.host.as_deref(), Some("/var/run"));
    }

    #[test]
    fn problems_never_quote_the_url() {
        for (text, words) in [
            ("postgres:u:hunter2@h/db", "\"//\""),
            ("postgres://u:hunter2", "port"),
            ("postgres://u:hun/ter2@h/db", "%2F"),
            ("postgres://u:12/ter2@h/db", "%40"),
            ("postgres://u:12?ter2@h/db", "NAME=VALUE"),
            ("postgres://u:12?a=ter2@h/db", "%40"),
            ("postgres://u:hunt@er2@h/db", "%40"),
            ("postgres://u:hunter2#@h/db", "%23"),
            ("postgres://u:hunt er2@h/db", "%20"),
            ("postgres://u:hunter%2@h/db", "hexadecimal"),
            ("postgres://u:hunter2%00@h/db", "%00"),
            ("postgres://u:hunter2%FF@h/db", "UTF-8"),
            ("postgres://u:hunter2@h:0/db", "65535"),
            ("postgres://u:hunter2@h:65536/db", "65535"),
            ("postgres://u:hunter2@h:+1/db", "65535"),
            ("postgres://u:hunter2@h,i/db", "several hosts"),
            ("postgres://u:hunter2@[::1/db", "]"),
            ("postgres://u:hunter2@[::1]x/db", "]"),
        ] {
            let problem = Url::parse(text).unwrap_err();
            assert!(problem.contains(words), "{text}: {problem}");
            assert!(!problem.contains("hun") && !problem.contains("ter2"), "{text}: {problem}");
        }
    }

    #[test]
    fn encoding_is_undone_by_decoding() {
        for text in ["", "plain", "a b/c@d:e?f=g&h%i", "grüße", "-c x=y"] {
            assert_eq!(decode(&encode(text, "")).unwrap(), text);
        }
        assert_eq!(encode("/var/run", "/"), "/var/run");
    }
}
