//! `dbload study` on file systems that are made for the test: loop devices with ext4 and xfs. Needs
//! root, `mkfs.xfs` and loop devices. Without them a test prints SKIPPED, unless `DBLOAD_REQUIRE`
//! holds `mount`: then it fails.

#![expect(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says why it was skipped"
)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::program::Place;

/// Room for an arm and its template, of which little is used.
const IMAGE_BYTES: u64 = 1 << 30;

/// A mounted file system that goes with the test.
struct Mount {
    at: PathBuf,
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.at).status();
    }
}

fn run(program: &str, args: &[&Path]) -> Result<(), String> {
    let output = Command::new(program).args(args).output();
    match output.map_err(|error| format!("{program}: {error}"))? {
        output if output.status.success() => Ok(()),
        output => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

fn mount(place: &Place, name: &str) -> Result<Mount, String> {
    let (image, at) = (place.path(&format!("{name}.img")), place.path(&format!("on-{name}")));
    let file = fs::File::create(&image).map_err(|error| error.to_string())?;
    file.set_len(IMAGE_BYTES).map_err(|error| error.to_string())?;
    fs::create_dir(&at).map_err(|error| error.to_string())?;
    run(&format!("mkfs.{name}"), &[Path::new("-q"), &image])?;
    run("mount", &[Path::new("-o"), Path::new("loop"), &image, &at])?;
    Ok(Mount { at })
}

/// Both file systems; nothing where they cannot be had and need not.
fn mounts(place: &Place) -> Option<[Mount; 2]> {
    let both = mount(place, "ext4").and_then(|ext4| Ok([ext4, mount(place, "xfs")?]));
    let required = std::env::var("DBLOAD_REQUIRE").unwrap_or_default();
    match both {
        Ok(both) => Some(both),
        Err(why) if required.split(',').any(|one| one == "mount") => {
            panic!(
                "no file systems on loop devices (root, xfsprogs and /dev/loop are needed): {why}"
            )
        }
        Err(why) => {
            eprintln!("SKIPPED: {why}");
            None
        }
    }
}

/// A plan of SQLite on the storages, by name and folder.
fn plan(place: &Place, storages: [(&str, &Mount); 2]) {
    let mut text = "rounds = 5\nsettle = \"10ms\"\n[load]\nclients = [1]\nwarmup = \"0s\"\n\
                    duration = \"300ms\"\nprepare = \"template\"\n[[server]]\nname = \"lite\"\n\
                    engine = \"sqlite\"\n"
        .to_owned();
    for (name, mount) in storages {
        text.push_str(&format!("[[storage]]\nname = \"{name}\"\ndir = {:?}\n", mount.at));
    }
    fs::write(place.path("plan.toml"), text).expect("a plan");
}

#[test]
fn labels_are_checked_and_facts_come_from_the_machine() {
    let place = Place::new();
    let Some([ext4, xfs]) = mounts(&place) else { return };
    plan(&place, [("ext4", &xfs), ("xfs", &ext4)]);
    let refused = place.dbload(&["study", "plan.toml", "--out", "results"]).expect_code(1);
    let found = format!("storage \"ext4\": {} is on xfs (/dev/loop", xfs.at.display());
    assert!(refused.stderr.contains(&found), "{refused}");
    assert!(refused.stderr.contains("not on ext4: correct the name or the folder"), "{refused}");
    assert!(!xfs.at.join("dbload-lite").exists() && !place.path("results").exists(), "{refused}");

    plan(&place, [("a", &ext4), ("b", &xfs)]);
    let text = fs::read_to_string(place.path("plan.toml")).expect("the plan");
    fs::write(place.path("big.toml"), text.replace("clients", "scale = 100\nclients"))
        .expect("a plan");
    let refused = place.dbload(&["study", "big.toml", "--out", "results"]).expect_code(1);
    // 100 scale factors twice, for the template, and more than the image has.
    assert!(refused.stderr.contains("free, and the arms on it need about 3."), "{refused}");
    assert!(!ext4.at.join("dbload-lite").exists() && !place.path("results").exists(), "{refused}");

    let ended = place.dbload(&["study", "plan.toml", "--out", "results"]).expect_code(0);
    let text = fs::read_to_string(place.path("results/summary.json")).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for arm in summary["arms"].as_array().expect("arms") {
        let name = arm["name"].as_str().expect("a name");
        let (file_system, image) = match name {
            "lite/a" => ("ext4", "ext4.img"),
            _ => ("xfs", "xfs.img"),
        };
        assert_eq!(arm["storage"]["file_system"], file_system, "{name}\n{ended}");
        let device = arm["storage"]["device"].as_str().expect("a device");
        assert!(device.starts_with("loop") && device.contains(image), "{device}");
    }
    let primary = &summary["comparisons"][0];
    assert_eq!((&primary["metric"], &primary["rounds"]), (&"tps".into(), &5.into()), "{ended}");
    assert_ne!(primary["verdict"], "none", "{ended}");
    assert!(ended.stdout.contains("lite/b against lite/a: "), "{ended}");
    let said = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("a difference may be that of the devices"), "{ended}");
}
