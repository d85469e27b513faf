//! The nearest of some known names, for "did you mean" sentences.
//!
//! Pure. One place, so that options, workloads, parameters and engines are all judged alike.

/// The known name that is nearest to `given`, when it is near enough to be a slip of the finger:
/// one edit for short names, one in three characters for longer ones. Case does not count.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    let allowed = (given.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&given, &name.to_lowercase()), name))
        // A name of which nothing is left was not meant.
        .filter(|(edits, name)| *edits <= allowed && *edits < name.chars().count())
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name)
}

/// `nearest` as the end of a sentence: `; did you mean "NAME"?`, or nothing.
pub fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(given, known).map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["sslmode", "sslrootcert", "host"];

    #[test]
    fn a_slip_finds_the_name() {
        assert_eq!(nearest("sslmod", NAMES), Some("sslmode"));
        assert_eq!(nearest("SSLMODE", NAMES), Some("sslmode"));
        assert_eq!(nearest("hots", NAMES), Some("host"));
    }

    #[test]
    fn a_stranger_finds_nothing() {
        assert_eq!(nearest("balance", NAMES), None);
        assert_eq!(nearest("x", ["c", "j"]), None);
        assert_eq!(did_you_mean("balance", NAMES), "");
    }

    #[test]
    fn the_sentence_names_it() {
        assert_eq!(did_you_mean("ssslmode", NAMES), "; did you mean \"sslmode\"?");
    }
}
