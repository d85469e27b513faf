//! Tests of the checks.

use super::*;

/// Scale 2 after transactions that added up to 70, of which history still has 50.
fn sums() -> Sums {
    Sums {
        branches: 2,
        tellers: 20,
        accounts: 200_000,
        bbalance: 70,
        tbalance: 70,
        abalance: 70,
        delta: 50,
    }
}

fn state() -> State {
    State {
        origin: Origin::Init,
        scale: 2,
        carried: 20,
        tellers_ahead: 0,
        other_truncations: 0,
        void: false,
    }
}

#[test]
fn equal_sums_with_what_was_carried_are_clean() {
    let report = VerifyReport::new(&sums(), Some(&state()));
    assert!(report.is_clean(), "{report}");
    assert_eq!(
        report.to_string(),
        "ok   rows of pgbench_branches = scale: 2\n\
         ok   rows of pgbench_tellers = 10 x scale: 20\n\
         ok   rows of pgbench_accounts = 100000 x scale: 200000\n\
         ok   sum(tbalance) = sum(bbalance): 70\n\
         ok   sum(abalance) = sum(delta) + carried (50 +20): 70\n\
         verified: every check holds"
    );
}

#[test]
fn an_update_from_outside_shows_which_sum_is_off_and_by_how_much() {
    let report = VerifyReport::new(&Sums { abalance: 71, ..sums() }, Some(&state()));
    assert!(!report.is_clean());
    let text = report.to_string();
    assert!(
        text.contains(
            "OFF  sum(abalance) = sum(delta) + carried (50 +20): expected 70, found 71, 1 more"
        ),
        "{text}"
    );
    assert!(text.contains("something else than the workloads"), "{text}");
    assert!(text.contains("--rebase"), "{text}");
    assert!(text.ends_with("not verified: 1 of 5 checks are off"), "{text}");
}

#[test]
fn tellers_and_branches_that_differ_are_off() {
    let report = VerifyReport::new(&Sums { tbalance: 60, ..sums() }, Some(&state()));
    let text = report.to_string();
    let line = "OFF  sum(tbalance) = sum(bbalance): expected 70, found 60, 10 less";
    assert!(text.contains(line), "{text}");
}

#[test]
fn simple_update_changes_accounts_and_history_only_and_stays_clean() {
    let sums = Sums { abalance: 75, delta: 55, ..sums() };
    assert!(VerifyReport::new(&sums, Some(&state())).is_clean());
}

#[test]
fn a_truncation_by_another_tool_is_said_even_when_the_sums_hold() {
    let state = State { other_truncations: 1, ..state() };
    let report = VerifyReport::new(&sums(), Some(&state));
    assert!(!report.is_clean());
    let text = report.to_string();
    assert!(text.contains("truncations of pgbench_history by other tools"), "{text}");
    assert!(text.contains("another tool emptied or rewrote pgbench_history"), "{text}");
}

#[test]
fn without_notes_nothing_is_carried_and_the_scale_is_the_number_of_branches() {
    let sums = Sums { abalance: 50, ..sums() };
    assert!(VerifyReport::new(&sums, None).is_clean());
    let report = VerifyReport::new(&Sums { delta: 0, ..sums }, None);
    assert!(report.to_string().contains("there is no dbload_state"), "{report}");
}

#[test]
fn notes_on_tables_that_were_made_anew_do_not_count() {
    let state = State { void: true, scale: 9, other_truncations: 3, ..state() };
    let report = VerifyReport::new(&Sums { abalance: 50, ..sums() }, Some(&state));
    assert!(report.is_clean(), "{report}");
    let report = VerifyReport::new(&sums(), Some(&state));
    assert!(report.to_string().contains("made anew"), "{report}");
}

#[test]
fn tables_of_another_tool_say_that_the_past_is_not_known() {
    let state = State { origin: Origin::Run, carried: 0, ..state() };
    let report = VerifyReport::new(&sums(), Some(&state));
    assert!(report.to_string().contains("another tool loaded these tables"), "{report}");
}

#[test]
fn a_missing_branch_is_noticed_by_the_scale_that_was_loaded() {
    let report = VerifyReport::new(&Sums { branches: 1, ..sums() }, Some(&state()));
    let text = report.to_string();
    assert!(text.contains("expected 2, found 1, 1 less"), "{text}");
    assert!(text.contains("--replace"), "{text}");
    assert!(!text.contains("--rebase"), "{text}");
}

#[test]
fn a_rebase_makes_the_present_sums_clean_and_later_transactions_keep_them_so() {
    let off = Sums { abalance: 99, tbalance: -5, ..sums() };
    let state = State::rebased(&off);
    assert!(VerifyReport::new(&off, Some(&state)).is_clean());
    let later = Sums {
        abalance: off.abalance + 7,
        tbalance: off.tbalance + 7,
        bbalance: off.bbalance + 7,
        delta: off.delta + 7,
        ..off
    };
    assert!(VerifyReport::new(&later, Some(&state)).is_clean());
}

#[test]
fn a_cell_that_is_no_number_names_the_file_and_the_column() {
    let row: Vec<Option<String>> =
        ["1", "2", "x"].iter().map(|cell| Some((*cell).to_owned())).collect();
    assert_eq!(
        Sums::from_row(&row).unwrap_err().to_string(),
        "check.sql: column 3 is Some(\"x\"), a whole number was expected"
    );
}
