//! What the end-to-end tests share: the servers that `scripts/test` started, a database of its own
//! for each test, the dbload program, and what it left on disk. The tests look at dbload from
//! outside, as a user or `psql` would: nothing here may use its library.

#![allow(dead_code, unused_macros, unused_imports, reason = "each test program uses a part of it")]

pub(crate) mod mysql;
pub(crate) mod postgres;
pub(crate) mod program;
pub(crate) mod results;
pub(crate) mod servers;

use std::thread::sleep;
use std::time::Duration;

/// Waits until `condition` holds, a minute at most.
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    for _ in 0..1200 {
        if condition() {
            return;
        }
        sleep(Duration::from_millis(50));
    }
    panic!("waited for a minute, in vain: {what}");
}

/// Runs each function once per PostgreSQL version, on a database of its own.
macro_rules! on_every_postgres {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            #[test]
            fn pg15() {
                crate::common::postgres::with_database("PG15", super::$name);
            }

            #[test]
            fn pg18() {
                crate::common::postgres::with_database("PG18", super::$name);
            }
        }
    )+};
}
pub(crate) use on_every_postgres;
