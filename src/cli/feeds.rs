//! Options of what other programs read of a run: pgbench's formats, and Prometheus.

use clap::{Args, ValueEnum};

use crate::units;

/// What other programs get.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "For other programs")]
pub(crate) struct FeedArgs {
    /// How the line of an interval looks: dbload's own way, or pgbench's
    #[arg(long, value_name = "FORMAT", default_value = "dbload")]
    pub(crate) progress_format: ProgressFormat,
    /// Log every transaction in pgbench's format, into the results folder
    #[arg(long, short = 'l')]
    pub(crate) log: bool,
    /// With --log: one line for so many seconds, in pgbench's aggregated format
    #[arg(long, value_name = "SECONDS", requires = "log", value_parser = aggregate_s,
        allow_hyphen_values = true)]
    pub(crate) aggregate_interval: Option<u64>,
    /// Serve counters to Prometheus at this port of 127.0.0.1, or at HOST:PORT
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) prometheus: Option<String>,
}

/// `--progress-format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressFormat {
    /// Percentiles too.
    Dbload,
    /// For programs that read pgbench's.
    Pgbench,
}

fn aggregate_s(text: &str) -> Result<u64, units::UnitError> {
    units::parse_count_within(text, 1..=1_000_000)
}

/// A port alone is one of this machine, that nobody else reaches.
fn address(text: &str) -> Result<String, String> {
    let (host, port) = match text.rsplit_once(':') {
        Some(("", port)) => ("127.0.0.1", port),
        Some((host, port)) => (host, port),
        None => ("127.0.0.1", text),
    };
    match port.parse::<u16>() {
        Ok(port) => Ok(format!("{host}:{port}")),
        Err(_) => Err(format!("\"{text}\" is neither PORT nor HOST:PORT, with a port up to 65535")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_of_this_machine() {
        assert_eq!(address("9400").as_deref(), Ok("127.0.0.1:9400"));
        assert_eq!(address(":9400").as_deref(), Ok("127.0.0.1:9400"));
        assert_eq!(address("0.0.0.0:9400").as_deref(), Ok("0.0.0.0:9400"));
        assert_eq!(address("[::1]:0").as_deref(), Ok("[::1]:0"));
        for wrong in ["", "localhost", "1.2.3.4:", "99999", "a:b:c"] {
            assert!(address(wrong).unwrap_err().contains("HOST:PORT"), "{wrong}");
        }
    }
}
