//! A file of the results folder that grows while a run goes on.
//!
//! A piece is written whole or not at all, so that a reader never meets half a row.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::folder::FolderError;

/// A file that only grows, by whole pieces.
#[derive(Debug)]
pub struct AppendedFile {
    path: PathBuf,
    pub(super) file: File,
    /// Length of what was written in whole pieces.
    good_bytes: u64,
    /// Pieces that could not be written yet.
    pending: Vec<u8>,
}

impl AppendedFile {
    /// Makes the file; one that is there already is an error.
    pub(super) fn create(path: PathBuf) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create_new(true).open(&path)?;
        Ok(Self { path, file, good_bytes: 0, pending: Vec::new() })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fails when the file that is written is not the one that its path names any more.
    pub(super) fn is_in_place(&self) -> Result<(), FolderError> {
        use std::os::unix::fs::MetadataExt;
        let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        let failed = |source| FolderError::Write { path: self.path.clone(), source };
        let written = identity(self.file.metadata().map_err(failed)?);
        match fs::metadata(&self.path).map(identity) {
            Ok(named) if named == written => Ok(()),
            Ok(_) => Err(failed(io::Error::other("the folder was replaced while it was written"))),
            Err(source) => Err(failed(source)),
        }
    }

    /// Adds a piece. After an error it is kept, and the next call writes it.
    pub fn append(&mut self, piece: &[u8]) -> Result<(), FolderError> {
        self.pending.extend_from_slice(piece);
        if let Err(source) = self.file.write_all(&self.pending) {
            // Cutting off the half-written piece needs no room; if even that fails, the next
            // error says the same.
            let _ = self.file.set_len(self.good_bytes);
            return Err(FolderError::Write { path: self.path.clone(), source });
        }
        self.good_bytes += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut file = AppendedFile {
            path: "intervals.csv".into(),
            file: full,
            good_bytes: 0,
            pending: Vec::new(),
        };
        let error = file.append(b"1\n").unwrap_err().to_string();
        assert!(error.contains("intervals.csv") && error.contains("No space"), "{error}");
        assert_eq!(file.pending, b"1\n");
    }
}
