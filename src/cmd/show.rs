//! `dbload show`: the built-in files, listed, printed or exported.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};

use super::Exit;
use crate::cli::ShowArgs;
use crate::embedded;
use crate::report::Output;
use crate::script::Dialect;
use crate::suggest::did_you_mean;
use crate::workload::source::Source;
use crate::workload::{CompileOptions, Workload, builtin};

/// Lists the built-in workloads, prints one, or exports all files.
pub(crate) fn show(args: &ShowArgs) -> anyhow::Result<Exit> {
    let text = match (&args.export, &args.name) {
        (Some(folder), _) => export(folder)?,
        (None, Some(name)) => one(args, name)?,
        (None, None) if args.engine.is_some() => {
            bail!("--engine needs a workload: dbload show NAME")
        }
        (None, None) => list(args)?,
    };
    Output::stdout().write(&text)?;
    Ok(Exit::Complete)
}

fn list(args: &ShowArgs) -> anyhow::Result<String> {
    let mut text = String::new();
    let names: Vec<_> = builtin::script_names().chain(builtin::list_names()).collect();
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    for name in names {
        let header = match Source::list(name, args.data_dir.as_deref())? {
            Some(list) => list.header(),
            None => Source::builtin(name, Dialect::default(), args.data_dir.as_deref())?.header(),
        };
        let title = header.title.unwrap_or_default();
        text.push_str(&format!("{name:width$}  {title}\n"));
    }
    Ok(text)
}

/// The text of a workload: as it stands, or statement by statement as an engine gets it.
fn one(args: &ShowArgs, name: &str) -> anyhow::Result<String> {
    if let Some(list) = Source::list(name, args.data_dir.as_deref())? {
        return Ok(list.text);
    }
    let Some(engine) = &args.engine else {
        return Ok(Source::builtin(name, Dialect::default(), args.data_dir.as_deref())?.text);
    };
    let dialect = Dialect::ALL.into_iter().find(|dialect| dialect.key() == engine);
    let Some(dialect) = dialect else {
        let names = Dialect::ALL.map(Dialect::key);
        bail!(
            "no engine is called \"{engine}\"{} (engines: {})",
            did_you_mean(engine, names),
            names.join(", ")
        );
    };
    let options = CompileOptions { dialect, ..CompileOptions::default() };
    let source = Source::builtin(name, dialect, args.data_dir.as_deref())?;
    let title = source.name.clone();
    let workload = Workload::compile(&title, vec![(source, 1)], &options)?;
    let mut text = String::new();
    for (_, statement) in workload.written() {
        text.push_str(&statement.sql);
        text.push(';');
        let variables: Vec<_> = statement
            .params
            .iter()
            .map(|slot| format!(":{}", workload.variable_names[slot.0 as usize]))
            .collect();
        if !variables.is_empty() {
            text.push_str(&format!("  -- {}", variables.join(", ")));
        }
        text.push('\n');
    }
    Ok(text)
}

/// Writes every embedded file below `folder`; a file that is there already is not touched.
fn export(folder: &Path) -> anyhow::Result<String> {
    for (path, _) in embedded::FILES {
        let path = folder.join(path);
        if path.exists() {
            bail!("{} exists already, nothing was written: name a new folder", path.display());
        }
    }
    for (path, text) in embedded::FILES {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(format!("{} files written below {}\n", embedded::FILES.len(), folder.display()))
}
