//! Options of commands that compare arms.

use clap::Args;

use crate::units::parse_percent;

/// How several targets are compared.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct CompareArgs {
    /// With several targets: the one that the others are compared with [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// With several targets: a difference below it does not matter
    #[arg(long, value_name = "PERCENT", default_value = "3%",
        value_parser = margin)]
    pub(crate) margin: f64,
}

fn margin(text: &str) -> Result<f64, String> {
    let margin = parse_percent(text).map_err(|error| error.to_string())?;
    if margin > 0.0 && margin < 1.0 {
        return Ok(margin);
    }
    Err("a margin lies above 0 % and below 100 %".to_owned())
}
