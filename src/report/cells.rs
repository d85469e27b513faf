//! The results folder of several arms: a folder for each cell, and `summary.json` over all.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::folder::{FolderError, ResultFolder, file_name};
use crate::result::Summary;

/// A folder that takes the results of many cells.
#[derive(Debug)]
pub struct CellsFolder {
    path: PathBuf,
}

impl CellsFolder {
    /// Makes the folder, or takes an empty one; without a path it gets a name by time.
    pub fn create(path: Option<&Path>, name: &str) -> Result<Self, FolderError> {
        let folder = match path {
            Some(path) => ResultFolder::create(path)?,
            None => ResultFolder::create_default(name, Timestamp::now())?,
        };
        let path = folder.path().to_path_buf();
        // Each cell's come with the cell.
        let unused = path.join("intervals.csv");
        fs::remove_file(&unused).map_err(|source| FolderError::Write { path: unused, source })?;
        let cells = path.join("cells");
        fs::create_dir_all(&cells).map_err(|source| FolderError::Write { path: cells, source })?;
        Ok(Self { path })
    }

    /// Takes a folder that an earlier study began.
    pub fn reopen(path: &Path) -> Result<Self, FolderError> {
        let cells = path.join("cells");
        if cells.is_dir() {
            return Ok(Self { path: path.to_path_buf() });
        }
        let source = io::Error::new(io::ErrorKind::NotFound, "it holds no cells of a study");
        Err(FolderError::Write { path: cells, source })
    }

    /// Where the folder is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of one cell, relative to this one: `cells/003-pg18_xfs-8`.
    pub fn cell(round: u32, arm: &str, clients: u32) -> String {
        format!("cells/{round:03}-{}-{clients}", file_name(arm))
    }

    /// What a cell gave that was measured to its end.
    pub fn finished(&self, cell: &str) -> Option<Summary> {
        let text = fs::read_to_string(self.path.join(cell).join("summary.json")).ok()?;
        Summary::from_json(&text).ok().filter(|summary| summary.complete)
    }

    /// Removes what an interrupted cell left.
    pub fn clear(&self, cell: &str) -> Result<(), FolderError> {
        let path = self.path.join(cell);
        match fs::remove_dir_all(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(FolderError::Write { path, source })
            }
            _ => Ok(()),
        }
    }

    /// Adds the intervals of a cell to those of the whole, with the round of the whole.
    pub fn add_intervals(&self, cell: &str, round: u32) -> Result<(), FolderError> {
        let from = self.path.join(cell).join("intervals.csv");
        let path = self.path.join("intervals.csv");
        let text = fs::read_to_string(&from)
            .map_err(|source| FolderError::Write { path: from, source })?;
        let mut lines = text.lines();
        let header = lines.next().unwrap_or_default();
        let mut whole = if path.exists() { String::new() } else { format!("{header}\n") };
        for line in lines {
            // Arms have names without commas.
            let mut columns = line.splitn(3, ',');
            if let (Some(arm), Some(_), Some(rest)) =
                (columns.next(), columns.next(), columns.next())
            {
                whole.push_str(&format!("{arm},{round},{rest}\n"));
            }
        }
        let file = fs::File::options().create(true).append(true).open(&path);
        file.and_then(|mut file| file.write_all(whole.as_bytes()))
            .map_err(|source| FolderError::Write { path, source })
    }

    /// Removes the intervals of the whole, which are gathered anew.
    pub fn forget_intervals(&self) -> Result<(), FolderError> {
        let path = self.path.join("intervals.csv");
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(FolderError::Write { path, source })
            }
            _ => Ok(()),
        }
    }

    /// Replaces a file. A reader sees the old one or the new one, never a part.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let path = self.path.join(name);
        let beside = self.path.join(format!("{name}.new"));
        fs::write(&beside, bytes)
            .and_then(|()| fs::rename(&beside, &path))
            .map_err(|source| FolderError::Write { path, source })
    }

    /// Replaces `summary.json`.
    pub fn write_summary(&self, summary: &Summary) -> Result<(), FolderError> {
        let text = summary.to_json().map_err(|error| FolderError::Write {
            path: self.path.join("summary.json"),
            source: error.into(),
        })?;
        self.write("summary.json", text.as_bytes())
    }

    /// Removes a folder in which nothing was measured.
    pub fn discard(self) {
        // Only what this folder made itself; anything else keeps it in place.
        for name in ["summary.json", "plan.toml", "intervals.csv"] {
            let _ = fs::remove_file(self.path.join(name));
        }
        let _ = fs::remove_dir(self.path.join("cells"));
        let _ = fs::remove_dir(&self.path);
    }
}
