//! The arms of a study: made before the first cell, started for each of their cells.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::instance::{self, Instance, InstanceDir, InstanceError, Kind, Server};
use crate::plan::study::{ArmPlan, Cache, EngineKind, StudyPlan, TWIN};
use crate::result::Summary;
use crate::target::{Env, NamedTarget, TargetArgs};

/// In the folder of an instance whose tables are loaded.
const LOADED: &str = "loaded";
/// In the folder of an instance: its data as it was after the load.
const TEMPLATE: &str = "template";

/// An arm that can be started.
pub(super) struct StudyArm {
    name: String,
    dir: InstanceDir,
    database: Database,
}

enum Database {
    Server(Instance),
    File,
}

/// An arm that answers, until this is dropped.
pub(super) struct Running {
    target: NamedTarget,
    server: Option<Server>,
}

impl Running {
    /// Where it answers.
    pub(super) fn target(&self) -> &NamedTarget {
        &self.target
    }

    /// Stops it in order.
    pub(super) async fn stop(self) {
        if let Some(server) = self.server {
            server.stop().await;
        }
    }
}

impl StudyArm {
    /// Makes the arm's folder and data directory; what an earlier study left is removed when
    /// `fresh`.
    pub(super) async fn prepare(arm: &ArmPlan, fresh: bool) -> anyhow::Result<Self> {
        let dir = InstanceDir::take(&arm.dir, &folder_name(arm))?;
        let kind = kind(arm.server.engine);
        let database = match kind {
            None => {
                if fresh {
                    dir.clear()?;
                }
                Database::File
            }
            Some(kind) => {
                let bin = arm.server.bin.as_deref().context("no bin folder")?;
                let (settings, initdb) = (arm.server.settings().collect(), &arm.server.initdb);
                let made = Instance::prepare(kind, dir.clone(), bin, initdb, settings, fresh);
                Database::Server(made.await?)
            }
        };
        Ok(Self { name: arm.name.clone(), dir, database })
    }

    /// Starts the server, where there is one.
    pub(super) async fn start(&self, env: &Env) -> anyhow::Result<Running> {
        let (url, server) = match &self.database {
            Database::File => (format!("sqlite:{}", self.dir.join("data.sqlite").display()), None),
            Database::Server(instance) => {
                let server = instance.start().await?;
                (server.url().to_owned(), Some(server))
            }
        };
        let args = TargetArgs { targets: vec![url], ..TargetArgs::default() };
        let mut target = args.resolve(env)?.pop().context("no target")?;
        target.name = self.name.clone();
        Ok(Running { target, server })
    }

    /// Whether the tables were loaded to the end.
    pub(super) fn is_loaded(&self) -> bool {
        self.dir.join(LOADED).is_file()
    }

    /// Its name with the space of its tables and keys, where that is known.
    pub(super) fn size(&self) -> Option<(String, u64)> {
        let text = fs::read_to_string(self.dir.join(LOADED)).ok()?;
        let bytes = text.trim().parse().ok().filter(|bytes| *bytes > 0)?;
        Some((self.name.clone(), bytes))
    }

    /// Remembers that the tables are loaded, and the space that they take.
    pub(super) fn loaded(&self, size_bytes: u64) -> anyhow::Result<()> {
        let path = self.dir.join(LOADED);
        fs::write(&path, size_bytes.to_string())
            .with_context(|| format!("writing {}", path.display()))
    }

    /// Keeps a copy of what is loaded; the server is stopped.
    pub(super) async fn keep(&self) -> anyhow::Result<()> {
        let template = self.dir.join(TEMPLATE);
        // What an interrupted copy left is no template.
        let _ = fs::remove_dir_all(&template);
        fs::create_dir_all(&template).context("making the folder of the template")?;
        copy(&self.data()?, &template).await
    }

    /// Puts the copy in the place of the data; the server is stopped.
    pub(super) async fn restore(&self) -> anyhow::Result<()> {
        for path in self.data()? {
            let removed =
                if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.with_context(|| format!("removing {}", path.display()))?;
        }
        copy(&entries(&self.dir.join(TEMPLATE))?, self.dir.path()).await?;
        // What the copy left to be written would be written while the cell is measured.
        rustix::fs::sync();
        Ok(())
    }

    /// The files and folders that hold the data.
    fn data(&self) -> anyhow::Result<Vec<PathBuf>> {
        let is_data = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name == "data" || name.starts_with("data.sqlite")
        };
        Ok(entries(self.dir.path())?.into_iter().filter(is_data).collect())
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

/// Refuses servers that are not there.
pub(super) fn check(plan: &StudyPlan) -> anyhow::Result<()> {
    for arm in &plan.arms {
        instance::check_storage(&arm.dir, &folder_name(arm), kind(arm.server.engine))
            .map_err(|error| plan.refusal(arm.storage_line, error.to_string()))?;
        if let (Some(kind), Some(bin)) = (kind(arm.server.engine), &arm.server.bin) {
            let refused = |error: InstanceError| plan.refusal(arm.server_line, error.to_string());
            instance::check(kind, bin).map_err(refused)?;
        }
        if let (EngineKind::Sqlite, Some((name, _))) =
            (arm.server.engine, arm.server.settings.iter().next())
        {
            let why = format!("settings of SQLite are not set by a plan: remove {name}");
            return Err(plan.refusal(arm.server_line, why).into());
        }
    }
    Ok(())
}

/// Adds to what the server said of its settings those of the plan that it was not asked for.
pub(super) fn add_settings(found: &mut Summary, plan: &ArmPlan) {
    for arm in &mut found.arms {
        for (name, value) in plan.server.settings() {
            // MySQL takes both; it says the latter.
            arm.settings.entry(name.replace('-', "_")).or_insert(value);
        }
    }
}

/// What comes after `dbload-` in the name of the arm's folder.
fn folder_name(arm: &ArmPlan) -> String {
    let twin = if arm.name.ends_with(TWIN) { "-again" } else { "" };
    format!("{}{twin}", arm.server.name)
}

/// The kind of server, where there is one.
fn kind(engine: EngineKind) -> Option<Kind> {
    match engine {
        EngineKind::Sqlite => None,
        EngineKind::Postgres => Some(Kind::Postgres),
        EngineKind::MariaDb => Some(Kind::MariaDb),
        EngineKind::MySql => Some(Kind::MySql),
    }
}

fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    Ok(entries.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?)
}

/// Copies with owners and times, by reference where the file system can.
async fn copy(from: &[PathBuf], to: &Path) -> anyhow::Result<()> {
    let mut command = tokio::process::Command::new("cp");
    command.args(["-a", "--reflink=auto", "--"]).args(from).arg(to);
    let output = command.kill_on_drop(true).output().await.context("running cp")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        anyhow::bail!("copying to {}: {}", to.display(), said.trim());
    }
    Ok(())
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
