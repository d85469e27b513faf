//! Tests of reading and writing values with units.

use proptest::prelude::*;

use super::*;

fn ms(text: &str) -> u128 {
    parse_duration(text, BareUnit::Seconds).unwrap().as_millis()
}

#[test]
fn durations_are_read_in_every_unit() {
    assert_eq!(ms("60s"), 60_000);
    assert_eq!(ms("10m"), 600_000);
    assert_eq!(ms("10min"), 600_000);
    assert_eq!(ms("250ms"), 250);
    assert_eq!(ms("1h"), 3_600_000);
    assert_eq!(ms("1.5s"), 1_500);
    assert_eq!(ms("0.5h"), 1_800_000);
    let us = parse_duration("100us", BareUnit::Seconds).unwrap();
    assert_eq!(us, Duration::from_micros(100));
    assert_eq!(ms("0"), 0);
    assert_eq!(ms("0060"), 60_000);
}

#[test]
fn a_bare_number_means_what_the_caller_says() {
    let read = |bare| parse_duration("60", bare);
    assert_eq!(read(BareUnit::Seconds), Ok(Duration::from_secs(60)));
    assert_eq!(read(BareUnit::Milliseconds), Ok(Duration::from_millis(60)));
    let refusal = read(BareUnit::Refused).unwrap_err().to_string();
    assert!(refusal.contains("\"60\"") && refusal.contains("bare number is refused"), "{refusal}");
    assert_eq!(
        parse_duration("2.5", BareUnit::Milliseconds),
        Ok(Duration::from_micros(2500)),
        "a fraction of the bare unit"
    );
}

#[test]
fn bad_durations_are_refused_with_the_value_and_what_is_allowed() {
    for text in [
        "",
        " ",
        "abc",
        "-5s",
        "+5s",
        "5 s",
        " 5s",
        "5s ",
        "5S",
        "5x",
        "1m20s",
        ".5s",
        "5.s",
        "1..5s",
        "1.2.3s",
        "NaN",
        "inf",
        "1e3s",
        "٣s",
        "\u{ff15}s",
        "0x10s",
        "1,5s",
        "s",
        "12345678901234567890123456s",
    ] {
        let refusal = parse_duration(text, BareUnit::Seconds).unwrap_err();
        assert!(matches!(refusal, UnitError::Duration { .. }), "{text:?}: {refusal:?}");
        let sentence = refusal.to_string();
        assert!(
            sentence.contains(&format!("\"{text}\"")) && sentence.contains("60s"),
            "{sentence}"
        );
    }
}

#[test]
fn durations_beyond_the_bounds_are_refused_not_wrapped() {
    assert_eq!(parse_duration("8760h", BareUnit::Seconds), Ok(MAX_DURATION));
    for text in ["8761h", "31536000.1", "99999999999999999999", "99999999999999999999999h"] {
        let refusal = parse_duration(text, BareUnit::Seconds).unwrap_err();
        assert!(matches!(refusal, UnitError::DurationTooLong { .. }), "{text}: {refusal:?}");
    }
    let fine = parse_duration("0.0000000001s", BareUnit::Seconds).unwrap_err();
    assert!(matches!(fine, UnitError::DurationTooFine { .. }), "{fine:?}");
}

#[test]
fn counts_take_thousands_and_refuse_everything_else() {
    for (text, count) in [
        ("500", 500),
        ("10K", 10_000),
        ("10k", 10_000),
        ("1M", 1_000_000),
        ("1.5M", 1_500_000),
        ("2G", 2_000_000_000),
        ("0", 0),
    ] {
        assert_eq!(parse_count(text), Ok(count), "{text}");
    }
    for text in
        ["", "two", "-1", "+1", "1.5", "0.0001K", "1KB", "1T", "1 000", "1,000", "NaN", "۵", "K"]
    {
        assert!(matches!(parse_count(text), Err(UnitError::Count { .. })), "{text:?}");
    }
    let overflow = parse_count("99999999999G").unwrap_err();
    assert!(matches!(overflow, UnitError::OutOfRange { .. }), "{overflow:?}");
}

#[test]
fn counts_outside_the_allowed_range_name_the_range() {
    assert_eq!(parse_count_within("500", 1..=21_474), Ok(500));
    for text in ["0", "21475", "99999999999", "99999999999999999999G"] {
        let refusal = parse_count_within(text, 1..=21_474).unwrap_err().to_string();
        assert_eq!(refusal, format!("{text} is out of range: 1 to 21474 is allowed"));
    }
    assert!(matches!(parse_count_within("two", 1..=2), Err(UnitError::Count { .. })));
}

#[test]
fn client_lists_are_strict() {
    assert_eq!(parse_clients("2,4,8"), Ok(vec![2, 4, 8]));
    assert_eq!(parse_clients("8,2"), Ok(vec![8, 2]), "the order is the user's");
    assert_eq!(parse_clients("65535"), Ok(vec![65_535]));
    for (text, reason) in [
        ("0", "0 is out of range"),
        ("2,,4", "a number is missing"),
        ("2,4,", "a number is missing"),
        (",2", "a number is missing"),
        ("", "a number is missing"),
        ("4-2", "\"4-2\" is not a whole number"),
        ("abc", "\"abc\" is not a whole number"),
        ("-4", "\"-4\" is not a whole number"),
        ("+4", "\"+4\" is not a whole number"),
        ("2, 4", "\" 4\" is not a whole number"),
        ("2.0", "\"2.0\" is not a whole number"),
        ("٤", "\"٤\" is not a whole number"),
        ("2,4,2", "2 occurs twice"),
        ("2,02", "02 occurs twice"),
        ("65536", "65536 is out of range"),
        ("99999999999", "99999999999 is out of range"),
    ] {
        let refusal = parse_clients(text).unwrap_err().to_string();
        assert!(refusal.contains(&format!("\"{text}\"")) && refusal.contains(reason), "{refusal}");
        assert!(refusal.contains("such as 2,4,8"), "{refusal}");
    }
}

#[test]
fn sizes_shares_and_rates_are_read_and_refused() {
    assert_eq!(parse_size_bytes("8192"), Ok(8192));
    assert_eq!(parse_size_bytes("8kB"), Ok(8192));
    assert_eq!(parse_size_bytes("1.5GB"), Ok(3 << 29));
    for text in ["", "-1MB", "1.3B", "MB", "1mb", "1PB", "99999999999999TB"] {
        assert!(parse_size_bytes(text).is_err(), "{text:?}");
    }
    assert_eq!(parse_percent("3%"), Ok(0.03));
    assert_eq!(parse_percent("0.5%"), Ok(0.005));
    for text in ["", "3", "%", "-3%", "100%", "NaN%", "3 %", "1e1%", "inf%"] {
        assert!(parse_percent(text).is_err(), "{text:?}");
    }
    assert_eq!(parse_rate_per_s("0.5"), Ok(0.5));
    for text in ["", "0", "0.0", "-1", "NaN", "inf", "1e3", "5/s"] {
        assert!(parse_rate_per_s(text).is_err(), "{text:?}");
    }
}

#[test]
fn values_are_written_for_people() {
    let s = Duration::from_secs;
    assert_eq!(format_duration(s(0)), "0s");
    assert_eq!(format_duration(s(60)), "60s");
    assert_eq!(format_duration(s(600)), "10m");
    assert_eq!(format_duration(s(7200)), "2h");
    assert_eq!(format_duration(Duration::from_millis(1500)), "1500ms");
    assert_eq!(format_duration(Duration::from_nanos(7)), "7ns");
    assert_eq!(format_time_left(s(45)), "45s");
    assert_eq!(format_time_left(s(80)), "1m 20s");
    assert_eq!(format_time_left(s(7500)), "2h 05m");
    assert_eq!(format_time_left(Duration::from_millis(100)), "1s");
    assert_eq!(format_ns_as_ms(12_345_678.0), "12.346");
    assert_eq!(format_tps(25_817.25), "25817.2");
    assert_eq!(format_count(0), "0");
    assert_eq!(format_count(999), "999");
    assert_eq!(format_count(1_234_567), "1,234,567");
    assert_eq!(format_bytes(512), "512 B");
    assert_eq!(format_bytes(16 << 20), "16.0 MB");
    assert_eq!(format_bytes((1 << 20) - 1), "1.0 MB");
    assert_eq!(format_bytes(3 << 29), "1.5 GB");
    assert_eq!(format_percent(0.0348), "3.5%");
}

proptest! {
    #[test]
    fn any_duration_survives_writing_and_reading(ns in 0..=31_536_000_000_000_000_u64) {
        let duration = Duration::from_nanos(ns);
        let text = format_duration(duration);
        prop_assert_eq!(parse_duration(&text, BareUnit::Refused), Ok(duration));
    }

    #[test]
    fn any_whole_unit_survives_writing_and_reading(
        n in 0..1_000_000_u64,
        ns in prop::sample::select(vec![1_u64, 1_000, 1_000_000, 1_000_000_000, 60_000_000_000]),
    ) {
        let duration = Duration::from_nanos(n.saturating_mul(ns)).min(MAX_DURATION);
        let text = format_duration(duration);
        prop_assert_eq!(parse_duration(&text, BareUnit::Seconds), Ok(duration));
    }

    #[test]
    fn any_count_survives_writing_and_reading(count in any::<u64>()) {
        prop_assert_eq!(parse_count(&count.to_string()), Ok(count));
        prop_assert_eq!(format_count(count).replace(',', ""), count.to_string());
    }

    #[test]
    fn any_client_list_survives_writing_and_reading(
        levels in prop::collection::hash_set(1..=MAX_CLIENTS, 1..20)
    ) {
        let levels: Vec<u32> = levels.into_iter().collect();
        let text = levels.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        prop_assert_eq!(parse_clients(&text), Ok(levels));
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in ".{0,30}") {
        let _ = parse_duration(&text, BareUnit::Seconds);
        let _ = parse_count(&text);
        let _ = parse_clients(&text);
        let _ = parse_size_bytes(&text);
        let _ = parse_percent(&text);
        let _ = parse_rate_per_s(&text);
    }
}

#[test]
fn no_probability_is_shown_as_zero() {
    assert_eq!(
        [0.03, 0.00006, 0.00004, 0.0].map(format_p),
        ["0.0300", "0.0001", "<0.0001", "<0.0001"]
    );
}

#[test]
fn a_count_has_its_noun() {
    assert_eq!(plural(1_u32, "log switch"), "1 log switch");
    assert_eq!(plural(44_u32, "log switch"), "44 log switches");
    assert_eq!(plural(0_u32, "client"), "0 clients");
}
