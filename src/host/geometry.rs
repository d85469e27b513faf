//! How a file system was made: block size, journal, features, as its own tools tell. Best effort:
//! without the tool, or without the right to read the device, there is nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Of ext4's superblock: what is kept, under which name.
const EXT: [(&str, &str); 6] = [
    ("Block size", "block_size"),
    ("Inode size", "inode_size"),
    ("Filesystem features", "features"),
    ("Journal features", "journal_features"),
    ("Journal size", "journal_size"),
    ("Total journal size", "journal_size"),
];
/// Of btrfs's superblock.
const BTRFS: [&str; 3] = ["nodesize", "sectorsize", "csum_type"];
/// Of xfs: sections with their figures.
const XFS: [(&str, &[&str]); 3] = [
    ("meta-data", &["isize", "agcount", "crc", "finobt", "sparse", "rmapbt", "reflink", "bigtime"]),
    ("data", &["bsize", "sunit", "swidth"]),
    ("log", &["bsize", "blocks", "version", "sunit"]),
];

/// The geometry of the file system that is mounted on `mount` from `source`.
pub(super) fn of(file_system: &str, mount: &Path, source: &str) -> BTreeMap<String, String> {
    let mount = mount.display().to_string();
    match file_system {
        "ext2" | "ext3" | "ext4" => said("dumpe2fs", &["-h", source]).map(|text| ext(&text)),
        "xfs" => said("xfs_info", &[&mount]).map(|text| xfs(&text)),
        "btrfs" => {
            let args = ["inspect-internal", "dump-super", source];
            said("btrfs", &args).map(|text| btrfs(&text))
        }
        _ => None,
    }
    .unwrap_or_default()
}

/// What a tool prints; ordinary users do not have the folder of these tools in their path.
fn said(program: &str, args: &[&str]) -> Option<String> {
    let run = |program: &str| {
        let mut command = Command::new(program);
        command.args(args).env("LC_ALL", "C").stdin(Stdio::null()).stderr(Stdio::null()).output()
    };
    let output = run(program).or_else(|_| run(&format!("/usr/sbin/{program}"))).ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn ext(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    let known = pairs.filter_map(|(name, value)| {
        let (_, key) = EXT.iter().find(|(known, _)| *known == name.trim())?;
        let words: Vec<&str> = value.split_whitespace().collect();
        Some(((*key).to_owned(), words.join(" ")))
    });
    known.collect()
}

fn btrfs(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.split_once(char::is_whitespace));
    let known = pairs.filter(|(name, _)| BTRFS.contains(name));
    known.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect()
}

fn xfs(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut section = "";
    for line in text.lines() {
        let name = line.split('=').next().unwrap_or_default().trim();
        if !name.is_empty() {
            section = name;
        }
        let Some((_, wanted)) = XFS.iter().find(|(name, _)| *name == section) else { continue };
        for word in line.split([' ', ',']) {
            if let Some((key, value)) = word.split_once('=')
                && wanted.contains(&key)
            {
                found.insert(format!("{section}_{key}"), value.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_are_understood() {
        let text = "meta-data=/dev/loop1             isize=512    agcount=4, agsize=393216 blks\n\
                    \x20        =                       sectsz=512   attr=2, projid32bit=1\n\
                    \x20        =                       crc=1        finobt=1, sparse=1, rmapbt=0\n\
                    \x20        =                       reflink=1    bigtime=1 inobtcount=1\n\
                    data     =                       bsize=4096   blocks=1572864, imaxpct=25\n\
                    \x20        =                       sunit=0      swidth=0 blks\n\
                    log      =internal log           bsize=4096   blocks=16384, version=2\n";
        let found = xfs(text);
        let value = |name: &str| found.get(name).map(String::as_str);
        assert_eq!((value("data_bsize"), value("log_blocks")), (Some("4096"), Some("16384")));
        assert_eq!((value("meta-data_reflink"), value("data_blocks")), (Some("1"), None));
        let found = ext(
            "dumpe2fs 1.47\nFilesystem features:      has_journal  extent\nBlock size:               4096\nTotal journal size:       64M\n",
        );
        assert_eq!(found["features"], "has_journal extent");
        assert_eq!((found["block_size"].as_str(), found["journal_size"].as_str()), ("4096", "64M"));
        let found = btrfs("superblock: bytenr=65536\nnodesize\t\t16384\ncsum_type\t\t0 (crc32c)\n");
        assert_eq!((found["nodesize"].as_str(), found.len()), ("16384", 2));
    }
}
