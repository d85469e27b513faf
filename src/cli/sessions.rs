//! Options of how clients come by their sessions with the database.

use clap::Args;

/// A client's session.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Sessions")]
pub(crate) struct SessionArgs {
    /// Make a new connection for every transaction, within its latency
    #[arg(long, short = 'C')]
    pub(crate) connect: bool,
    /// Let all clients share so many connections, which wait for one for every transaction
    /// (PostgreSQL)
    #[arg(long, value_name = "N", conflicts_with = "connect", allow_negative_numbers = true,
        value_parser = super::whole::<u32>(1..=100_000))]
    pub(crate) pool: Option<u32>,
    /// Run SQL once on every new connection of a client, before its first transaction; may be
    /// repeated
    #[arg(long, value_name = "SQL", value_parser = sql, allow_hyphen_values = true)]
    pub(crate) session_sql: Vec<String>,
}

fn sql(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("the text is empty: give SQL, such as 'SET work_mem = \'64MB\''".to_owned());
    }
    Ok(text.to_owned())
}
