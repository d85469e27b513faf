//! Durations, row counts, client lists, sizes and shares as text: read from people, written for
//! people.
//!
//! Reading is strict: ASCII digits, one optional decimal point, one unit, nothing else. What is
//! refused comes back as a full sentence with the value and what is allowed. Pure: no clock, no
//! files; must not know which option a value belongs to (the caller says that).

use std::ops::RangeInclusive;
use std::time::Duration;

/// The longest duration that is accepted: a year. Longer ones are typing errors, and far longer
/// ones would overflow a deadline.
pub const MAX_DURATION: Duration = Duration::from_secs(365 * 24 * 3600);

/// The most clients of a level: a client is a connection, and a TCP address has 65 535 ports.
pub const MAX_CLIENTS: u32 = 65_535;

const NS_PER_US: u64 = 1_000;
const NS_PER_MS: u64 = 1_000_000;
const NS_PER_S: u64 = 1_000_000_000;

/// What a duration without a unit means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BareUnit {
    /// `60` is a minute.
    Seconds,
    /// `60` is 60 ms.
    Milliseconds,
    /// `60` is refused: the unit has to be written (plan files).
    Refused,
}

impl BareUnit {
    fn hint(self) -> &'static str {
        match self {
            Self::Seconds => "; a bare number is seconds",
            Self::Milliseconds => "; a bare number is milliseconds",
            Self::Refused => "; a bare number is refused here",
        }
    }
}

/// Why a text was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Not a duration at all.
    #[error(
        "\"{text}\" is not a duration: write a number and a unit, such as 100us, 250ms, 60s, \
         1.5s, 10m or 1h{bare}"
    )]
    Duration {
        /// What was given.
        text: String,
        /// What a bare number would mean.
        bare: &'static str,
    },
    /// A duration over [`MAX_DURATION`].
    #[error("the duration \"{text}\" is too long: at most 8760h (a year) is allowed")]
    DurationTooLong {
        /// What was given.
        text: String,
    },
    /// Digits below a nanosecond.
    #[error("the duration \"{text}\" is too fine: one nanosecond is the smallest step")]
    DurationTooFine {
        /// What was given.
        text: String,
    },
    /// Not a whole number, with or without K, M or G.
    #[error(
        "\"{text}\" is not a count: write a whole number such as 500, or with K, M or G for \
         thousands, millions or thousands of millions, such as 10K or 1.5M"
    )]
    Count {
        /// What was given.
        text: String,
    },
    /// A number outside of what the caller allows.
    #[error("{text} is out of range: {min} to {max} is allowed")]
    OutOfRange {
        /// What was given.
        text: String,
        /// The smallest value allowed.
        min: u64,
        /// The largest value allowed.
        max: u64,
    },
    /// Not a list of client counts.
    #[error(
        "\"{text}\" is not a list of client counts: {reason}; write whole numbers from 1 to \
         65535 with commas between them, such as 2,4,8"
    )]
    Clients {
        /// What was given.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Not a size.
    #[error(
        "\"{text}\" is not a size: write a whole number of B, kB, MB, GB or TB, such as 512MB \
         (1 kB = 1024 B)"
    )]
    Size {
        /// What was given.
        text: String,
    },
    /// Not a share in percent.
    #[error(
        "\"{text}\" is not a share in percent: write a number from 0 up to 100 and the sign %, \
         such as 3% or 0.5%"
    )]
    Percent {
        /// What was given.
        text: String,
    },
    /// Not a rate.
    #[error(
        "\"{text}\" is not a rate: write a number of transactions per second above 0, such as \
         200 or 0.5"
    )]
    Rate {
        /// What was given.
        text: String,
    },
}

/// A decimal number as written: digits without the point, and how many of them follow it.
struct Decimal {
    digits: u128,
    scale: u32,
}

/// Splits `text` into a decimal number and what follows it. `None` when it does not start with a
/// digit, has a point without digits on both sides, or more digits than any sensible value.
fn split_decimal(text: &str) -> Option<(Decimal, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let (whole, fraction) = match number.split_once('.') {
        None => (number, ""),
        Some((_, "")) => return None,
        Some(parts) => parts,
    };
    if whole.is_empty() || fraction.contains('.') || whole.len() + fraction.len() > 24 {
        return None;
    }
    // At most 24 digits fit a u128 with room for the multiplication by a unit.
    let digits = format!("{whole}{fraction}").parse().ok()?;
    Some((Decimal { digits, scale: u32::try_from(fraction.len()).ok()? }, rest))
}

impl Decimal {
    /// This number of `unit`s as a whole number; `Err` holds it rounded down.
    fn times(&self, unit: u64) -> Result<u128, u128> {
        let product = self.digits.saturating_mul(u128::from(unit));
        let divisor = 10_u128.pow(self.scale);
        let quotient = product / divisor;
        if product % divisor == 0 { Ok(quotient) } else { Err(quotient) }
    }
}

/// Reads a duration: `100us`, `250ms`, `60s`, `1.5s`, `10m` (also `min`), `1h`. Zero is a duration;
/// the caller refuses it where it makes no sense.
pub fn parse_duration(text: &str, bare: BareUnit) -> Result<Duration, UnitError> {
    let refused = || UnitError::Duration { text: text.to_owned(), bare: bare.hint() };
    let (number, unit) = split_decimal(text).ok_or_else(refused)?;
    let unit_ns = match (unit, bare) {
        ("ns", _) => 1,
        ("us", _) => NS_PER_US,
        ("ms", _) | ("", BareUnit::Milliseconds) => NS_PER_MS,
        ("s", _) | ("", BareUnit::Seconds) => NS_PER_S,
        ("m" | "min", _) => 60 * NS_PER_S,
        ("h", _) => 3600 * NS_PER_S,
        _ => return Err(refused()),
    };
    let too_long = || UnitError::DurationTooLong { text: text.to_owned() };
    let exact = number.times(unit_ns);
    if exact.unwrap_or_else(|floor| floor) > MAX_DURATION.as_nanos() {
        return Err(too_long());
    }
    let ns = exact.map_err(|_| UnitError::DurationTooFine { text: text.to_owned() })?;
    u64::try_from(ns).map(Duration::from_nanos).map_err(|_| too_long())
}

/// Reads a row count: a whole number, or a number with K, M or G (1000, 1000², 1000³).
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    let refused = || UnitError::Count { text: text.to_owned() };
    let (number, unit) = split_decimal(text).ok_or_else(refused)?;
    let factor = match unit {
        "" if number.scale == 0 => 1,
        "K" | "k" => 1_000,
        "M" | "m" => 1_000_000,
        "G" | "g" => 1_000_000_000,
        _ => return Err(refused()),
    };
    let count = number.times(factor).map_err(|_| refused())?;
    u64::try_from(count).map_err(|_| UnitError::OutOfRange {
        text: text.to_owned(),
        min: 0,
        max: u64::MAX,
    })
}

/// Reads a row count that must lie in `allowed`.
pub fn parse_count_within(text: &str, allowed: RangeInclusive<u64>) -> Result<u64, UnitError> {
    let (min, max) = (*allowed.start(), *allowed.end());
    let out_of_range = || UnitError::OutOfRange { text: text.to_owned(), min, max };
    match parse_count(text) {
        Ok(count) if allowed.contains(&count) => Ok(count),
        Ok(_) | Err(UnitError::OutOfRange { .. }) => Err(out_of_range()),
        Err(error) => Err(error),
    }
}

/// Reads a list of client counts, `2,4,8`: each from 1 to [`MAX_CLIENTS`], none twice (a level is
/// named by its client count, so two of the same could not be told apart).
pub fn parse_clients(text: &str) -> Result<Vec<u32>, UnitError> {
    let refused = |reason: String| UnitError::Clients { text: text.to_owned(), reason };
    let mut levels = Vec::new();
    for item in text.split(',') {
        if item.is_empty() {
            return Err(refused("a number is missing".to_owned()));
        }
        if !item.bytes().all(|b| b.is_ascii_digit()) {
            return Err(refused(format!("\"{item}\" is not a whole number")));
        }
        match item.parse::<u32>() {
            Ok(clients) if !(1..=MAX_CLIENTS).contains(&clients) => {
                return Err(refused(format!("{item} is out of range")));
            }
            Ok(clients) if levels.contains(&clients) => {
                return Err(refused(format!("{item} occurs twice")));
            }
            Ok(clients) => levels.push(clients),
            Err(_) => return Err(refused(format!("{item} is out of range"))),
        }
    }
    Ok(levels)
}

/// Reads a size in bytes: `8192`, `512MB`, `1.5GB`. Units are PostgreSQL's, powers of 1024.
pub fn parse_size_bytes(text: &str) -> Result<u64, UnitError> {
    let refused = || UnitError::Size { text: text.to_owned() };
    let (number, unit) = split_decimal(text).ok_or_else(refused)?;
    let factor = match unit {
        "" | "B" => 1,
        "kB" | "KB" => 1 << 10,
        "MB" => 1 << 20,
        "GB" => 1 << 30,
        "TB" => 1 << 40,
        _ => return Err(refused()),
    };
    let bytes = number.times(factor).map_err(|_| refused())?;
    u64::try_from(bytes).map_err(|_| refused())
}

/// Reads a share such as `3%` as a fraction, 0.03.
pub fn parse_percent(text: &str) -> Result<f64, UnitError> {
    parse_percent_below(text, 1.0)
}

/// The same with another limit than 100 %, as a fraction.
pub fn parse_percent_below(text: &str, limit: f64) -> Result<f64, UnitError> {
    let refused = || UnitError::Percent { text: text.to_owned() };
    let number = text.strip_suffix('%').ok_or_else(refused)?;
    match split_decimal(number) {
        Some((_, "")) => number.parse::<f64>().map(|percent| percent / 100.0).ok(),
        _ => None,
    }
    .filter(|share| (0.0..limit).contains(share))
    .ok_or_else(refused)
}

/// Reads a rate in transactions per second: finite and above zero.
pub fn parse_rate_per_s(text: &str) -> Result<f64, UnitError> {
    match split_decimal(text) {
        Some((_, "")) => text.parse::<f64>().ok(),
        _ => None,
    }
    .filter(|rate| rate.is_finite() && *rate > 0.0)
    .ok_or_else(|| UnitError::Rate { text: text.to_owned() })
}

/// A duration so that [`parse_duration`] reads the same back: in the largest of h, m (from five
/// minutes on), s, ms, us and ns that needs no fraction.
pub fn format_duration(duration: Duration) -> String {
    // Unit, its length, and the least duration that is written in it.
    const UNITS: [(&str, u64, u64); 6] = [
        ("h", 3600 * NS_PER_S, 3600 * NS_PER_S),
        ("m", 60 * NS_PER_S, 300 * NS_PER_S),
        ("s", NS_PER_S, 0),
        ("ms", NS_PER_MS, 0),
        ("us", NS_PER_US, 0),
        ("ns", 1, 0),
    ];
    let ns = duration.as_nanos();
    for (unit, unit_ns, least_ns) in UNITS {
        if ns >= u128::from(least_ns) && ns.is_multiple_of(u128::from(unit_ns)) {
            return format!("{}{unit}", ns / u128::from(unit_ns));
        }
    }
    format!("{ns}ns")
}

/// Time left or passed, for people: `45s`, `1m 20s`, `2h 05m`.
pub fn format_time_left(duration: Duration) -> String {
    // Rounded up: "0s left" is only said when nothing is left.
    let s = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
    match s {
        0..60 => format!("{s}s"),
        60..3600 => format!("{}m {:02}s", s / 60, s % 60),
        _ => format!("{}h {:02}m", s / 3600, s % 3600 / 60),
    }
}

/// Milliseconds with three decimals, as pgbench prints latencies: `12.345`.
pub fn format_ms(ms: f64) -> String {
    format!("{ms:.3}")
}

/// Nanoseconds as milliseconds with three decimals.
pub fn format_ns_as_ms(ns: f64) -> String {
    format_ms(ns / 1e6)
}

/// Transactions per second with one decimal and no separators, so that it can be cut and pasted
/// into arithmetic: `25817.3`.
pub fn format_tps(tps: f64) -> String {
    format!("{tps:.1}")
}

/// A whole number with commas between thousands: `1,234,567`.
pub fn format_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 client`, `2 clients`, `2 log switches`.
pub fn plural(count: impl Into<u64>, noun: &str) -> String {
    let count = count.into();
    let ending = match count {
        1 => "",
        _ if ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end)) => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// A size for people, in PostgreSQL's units (1 kB = 1024 B): `512 B`, `16.0 MB`, `1.5 GB`.
pub fn format_bytes(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = "kB";
    for larger in ["MB", "GB", "TB"] {
        // 1023.95 would be printed as 1024.0 of the smaller unit.
        if value < 1023.95 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    format!("{value:.1} {unit}")
}

/// A fraction as a percentage with one decimal: 0.0348 is `3.5%`.
pub fn format_percent(fraction: f64) -> String {
    format!("{:.1}%", fraction * 100.0)
}

/// A probability with four decimals; none is shown as 0.
pub fn format_p(p: f64) -> String {
    if p < 0.00005 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}

#[cfg(test)]
mod tests;
