//! The arms of a study: made before the first cell, started for each of their cells.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::instance::{InstanceDir, postgres};
use crate::plan::study::{ArmPlan, Cache, EngineKind, TWIN};
use crate::target::{Env, NamedTarget, TargetArgs};

/// In the folder of an instance whose tables are loaded.
const LOADED: &str = "loaded";

/// An arm that can be started.
pub(super) struct StudyArm {
    name: String,
    dir: InstanceDir,
    kind: Kind,
}

enum Kind {
    Postgres(postgres::Instance),
    Sqlite,
}

/// An arm that answers, until this is dropped.
pub(super) struct Running {
    target: NamedTarget,
    _server: Option<postgres::Server>,
}

impl Running {
    /// Where it answers.
    pub(super) fn target(&self) -> &NamedTarget {
        &self.target
    }
}

impl StudyArm {
    /// Makes the arm's folder and data directory; what an earlier study left is removed when
    /// `fresh`.
    pub(super) fn prepare(arm: &ArmPlan, fresh: bool) -> anyhow::Result<Self> {
        let twin = if arm.name.ends_with(TWIN) { "-again" } else { "" };
        let dir = InstanceDir::take(&arm.dir, &format!("{}{twin}", arm.server.name))?;
        let kind = match arm.server.engine {
            EngineKind::Sqlite => {
                if fresh {
                    dir.clear()?;
                }
                if let Some((name, _)) = arm.server.settings.iter().next() {
                    bail!("settings of SQLite are not set by a plan: remove {name}");
                }
                Kind::Sqlite
            }
            EngineKind::Postgres => {
                let bin = arm.server.bin.as_deref().context("no bin folder")?;
                let settings = arm.server.settings.iter().map(|(name, value)| {
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    (name.clone(), text)
                });
                Kind::Postgres(postgres::Instance::prepare(
                    dir.clone(),
                    bin,
                    &arm.server.initdb,
                    settings.collect(),
                    fresh,
                )?)
            }
        };
        Ok(Self { name: arm.name.clone(), dir, kind })
    }

    /// Starts the server, where there is one.
    pub(super) fn start(&self, env: &Env) -> anyhow::Result<Running> {
        let (url, server) = match &self.kind {
            Kind::Sqlite => (format!("sqlite:{}", self.dir.join("data.sqlite").display()), None),
            Kind::Postgres(instance) => {
                let server = instance.start()?;
                (server.url(), Some(server))
            }
        };
        let args = TargetArgs { targets: vec![url], ..TargetArgs::default() };
        let mut target = args.resolve(env)?.pop().context("no target")?;
        target.name = self.name.clone();
        Ok(Running { target, _server: server })
    }

    /// Whether the tables were loaded to the end.
    pub(super) fn is_loaded(&self) -> bool {
        self.dir.join(LOADED).is_file()
    }

    /// Remembers that the tables are loaded.
    pub(super) fn loaded(&self) -> anyhow::Result<()> {
        let path = self.dir.join(LOADED);
        fs::write(&path, "").with_context(|| format!("writing {}", path.display()))
    }

    /// Brings the page cache into the state that a cell begins with.
    pub(super) fn cache(&self, cache: Cache) -> anyhow::Result<()> {
        match cache {
            Cache::AsIs => Ok(()),
            Cache::Warm => read_all(self.dir.path()).context("reading the data into the cache"),
            Cache::Cold => {
                rustix::fs::sync();
                let path = Path::new("/proc/sys/vm/drop_caches");
                let file = fs::OpenOptions::new().write(true).open(path);
                file.and_then(|mut file| file.write_all(b"3\n"))
                    .context("dropping the page cache (use cache = \"as-is\" or \"warm\" instead)")
            }
        }
    }
}

/// Reads every file under a folder.
fn read_all(folder: &Path) -> io::Result<()> {
    let mut folders: Vec<PathBuf> = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                io::copy(&mut fs::File::open(entry.path())?, &mut io::sink())?;
            }
        }
    }
    Ok(())
}
