//! Storage of made-up machines, built as files in a temporary folder, and of this one.

use std::os::unix::fs::symlink;

use super::*;

/// A made-up machine: `proc`, `sys` and `dev` under a temporary folder.
struct Machine(tempfile::TempDir);

impl Machine {
    /// `mounts` are lines of mountinfo; ROOT stands for the temporary folder.
    fn new(mounts: &str) -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        let root = machine.root();
        machine.write("proc/self/mountinfo", &mounts.replace("ROOT", root.to_str().unwrap()));
        machine
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Adds the device `number` at `folder` under `sys/devices`.
    fn device(&self, number: &str, folder: &str) {
        self.write(&format!("sys/devices/{folder}/dev"), number);
        self.write(&format!("sys/devices/{folder}/size"), "2097152\n");
        let target = self.0.path().join("sys/devices").join(folder);
        for (class, name) in
            [("dev/block", number), ("class/block", folder.rsplit('/').next().unwrap())]
        {
            let class = self.0.path().join("sys").join(class);
            fs::create_dir_all(&class).unwrap();
            symlink(&target, class.join(name)).unwrap();
        }
    }

    fn slave(&self, of: &str, folder: &str) {
        let slaves = self.0.path().join("sys/devices").join(of).join("slaves");
        fs::create_dir_all(&slaves).unwrap();
        let target = self.0.path().join("sys/devices").join(folder);
        symlink(&target, slaves.join(target.file_name().unwrap())).unwrap();
    }

    fn storage(&self, folder: &str) -> Storage {
        let folder = self.root().join(folder);
        fs::create_dir_all(&folder).unwrap();
        Storage::under(&self.root(), &folder).unwrap()
    }
}

fn chain(storage: &Storage) -> Vec<(&str, DeviceKind, usize)> {
    storage.devices.iter().map(|d| (d.name.as_str(), d.kind, d.depth)).collect()
}

#[test]
fn a_partition_lies_on_its_disk() {
    let machine = Machine::new(
        "20 1 8:17 / ROOT/data rw,noatime shared:1 - xfs /dev/sdb1 rw,attr2,noatime,logbufs=8\n\
         10 1 8:1 / / rw - ext4 /dev/sda1 rw\n",
    );
    machine.device("8:16", "pci/block/sdb");
    machine.device("8:17", "pci/block/sdb/sdb1");
    machine.write("sys/devices/pci/block/sdb/sdb1/partition", "1\n");
    machine.write("sys/devices/pci/block/sdb/queue/scheduler", "none [mq-deadline] kyber\n");
    machine.write("sys/devices/pci/block/sdb/queue/rotational", "0\n");
    machine.write("sys/devices/pci/block/sdb/queue/write_cache", "write back\n");
    machine.write("sys/devices/pci/block/sdb/device/model", "Virtual disk    \n");
    let storage = machine.storage("data/pg");
    assert_eq!((storage.file_system.as_str(), storage.source.as_str()), ("xfs", "/dev/sdb1"));
    assert_eq!(storage.mount_options, "rw,noatime,attr2,logbufs=8");
    assert_eq!(storage.mount_point, machine.root().join("data"));
    assert_eq!(chain(&storage), [("sdb1", DeviceKind::Partition, 0), ("sdb", DeviceKind::Disk, 1)]);
    let disk = storage.disks().next().unwrap();
    assert_eq!(disk.scheduler.as_deref(), Some("mq-deadline"));
    assert_eq!((disk.rotational, disk.size_bytes), (Some(false), Some(1 << 30)));
    assert_eq!(disk.write_cache.as_deref(), Some("write back"));
    assert_eq!(disk.model.as_deref(), Some("Virtual disk"));
    let watched = storage.watched().unwrap();
    assert_eq!((watched.number.as_str(), watched.flushes.as_deref()), ("8:17", Some("8:16")));
    let record = storage.into_record();
    assert_eq!(record.device.as_deref(), Some("sdb1 on sdb"));
    assert_eq!(record.scheduler.as_deref(), Some("mq-deadline"), "the disk's: parts have none");
    assert_eq!(record.file_system.as_deref(), Some("xfs"));
    assert!(record.geometry.contains_key("block_bytes"));
}

#[test]
fn a_loop_device_leads_through_its_file_to_the_disk() {
    let machine = Machine::new(
        "10 1 254:0 / / rw - ext4 /dev/vda rw\n\
         20 10 7:3 / ROOT/arm rw - xfs /dev/loop3 rw\n",
    );
    machine.device("254:0", "virtio/block/vda");
    machine.device("7:3", "virtual/block/loop3");
    machine.write("sys/devices/virtual/block/loop3/loop/backing_file", "/var/images/xfs.img\n");
    machine.write("sys/devices/virtual/block/loop3/queue/scheduler", "none\n");
    let storage = machine.storage("arm");
    assert_eq!(chain(&storage), [("loop3", DeviceKind::Loop, 0), ("vda", DeviceKind::Disk, 1)]);
    assert_eq!(storage.devices[0].backing_file.as_deref(), Some("/var/images/xfs.img"));
    assert_eq!(storage.devices[0].scheduler.as_deref(), Some("none"));
    assert_eq!(storage.devices[1].scheduler, None);
}

#[test]
fn a_loop_device_on_itself_ends() {
    let machine = Machine::new("20 1 7:0 / / rw - ext4 /dev/loop0 rw\n");
    machine.device("7:0", "virtual/block/loop0");
    machine.write("sys/devices/virtual/block/loop0/loop/backing_file", "/image\n");
    assert_eq!(chain(&machine.storage("x")).len(), 1);
}

#[test]
fn lvm_on_a_mirror_names_every_disk_once() {
    let machine = Machine::new("20 1 253:0 / ROOT/lv rw - ext4 /dev/mapper/vg-lv rw\n");
    machine.device("253:0", "virtual/block/dm-0");
    machine.write("sys/devices/virtual/block/dm-0/dm/name", "vg-lv\n");
    machine.device("9:0", "virtual/block/md0");
    machine.write("sys/devices/virtual/block/md0/md/level", "raid1\n");
    machine.slave("virtual/block/dm-0", "virtual/block/md0");
    for (letter, disk, partition) in [("a", "8:0", "8:1"), ("b", "8:16", "8:17")] {
        let folder = format!("pci/block/sd{letter}");
        machine.device(disk, &folder);
        machine.device(partition, &format!("{folder}/sd{letter}1"));
        machine.write(&format!("sys/devices/{folder}/sd{letter}1/partition"), "1\n");
        machine.slave("virtual/block/md0", &format!("{folder}/sd{letter}1"));
    }
    // a second way down to the same disk
    machine.slave("virtual/block/md0", "pci/block/sda");
    let storage = machine.storage("lv");
    assert_eq!(
        chain(&storage),
        [
            ("dm-0", DeviceKind::Dm, 0),
            ("md0", DeviceKind::Md, 1),
            ("sda", DeviceKind::Disk, 2),
            ("sda1", DeviceKind::Partition, 2),
            ("sdb1", DeviceKind::Partition, 2),
            ("sdb", DeviceKind::Disk, 3),
        ]
    );
    assert_eq!(storage.disks().count(), 2);
}

#[test]
fn btrfs_is_found_by_the_device_that_it_names() {
    let machine =
        Machine::new("20 1 0:45 /@data ROOT/b rw - btrfs /dev/mapper/vg-b rw,subvol=/@data\n");
    machine.device("253:1", "virtual/block/dm-1");
    machine.write("sys/devices/virtual/block/dm-1/dm/name", "vg-b\n");
    machine.write("dev/dm-1", "");
    fs::create_dir_all(machine.root().join("dev/mapper")).unwrap();
    symlink("../dm-1", machine.root().join("dev/mapper/vg-b")).unwrap();
    let storage = machine.storage("b");
    let watched = storage.watched().unwrap();
    assert_eq!((storage.file_system.as_str(), watched.number.as_str()), ("btrfs", "253:1"));
    assert_eq!(watched.flushes.as_deref(), Some("253:1"));
}

#[test]
fn memory_network_and_overlays_have_no_device() {
    for (kind, source) in [("tmpfs", "tmpfs"), ("nfs4", "host:/export"), ("overlay", "overlay")] {
        let machine = Machine::new(&format!("20 1 0:50 / ROOT/m rw - {kind} {source} rw\n"));
        let storage = machine.storage("m");
        assert_eq!((storage.file_system.as_str(), storage.devices.len()), (kind, 0));
        assert_eq!(storage.watched(), None);
    }
}

#[test]
fn the_last_of_two_mounts_at_one_place_counts_and_names_are_whole() {
    let machine = Machine::new(
        "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
         30 1 8:2 / ROOT/a rw - ext4 /dev/sda2 rw\n\
         31 30 8:3 / ROOT/a rw - xfs /dev/sda3 rw\n",
    );
    assert_eq!(machine.storage("a/x").source, "/dev/sda3");
    assert_eq!(machine.storage("ab").source, "/dev/sda1", "ROOT/a is no parent of ROOT/ab");
}

#[test]
fn a_folder_to_be_made_lives_where_its_parent_does() {
    let machine = Machine::new("20 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
    fs::create_dir_all(machine.root().join("there")).unwrap();
    let storage = Storage::under(&machine.root(), &machine.root().join("there/not/yet")).unwrap();
    assert_eq!(storage.folder, machine.root().join("there"));
    symlink("there", machine.root().join("link")).unwrap();
    let storage = Storage::under(&machine.root(), &machine.root().join("link")).unwrap();
    assert_eq!(storage.folder, machine.root().join("there"), "links are followed");
}

#[test]
fn failures_say_what_could_not_be_read() {
    let machine = Machine::new("");
    let error = Storage::under(&machine.root(), &machine.root()).unwrap_err().to_string();
    assert!(error.starts_with("no mounted file system holds the folder /"), "{error}");
    let error = Storage::under(Path::new("/nonexistent"), Path::new("/")).unwrap_err().to_string();
    assert!(error.starts_with("cannot read the list of mounts, /nonexistent/proc"), "{error}");
}

#[test]
fn this_machine_has_a_file_system_with_space() {
    let storage = Storage::of(Path::new("/")).unwrap();
    assert!(!storage.file_system.is_empty() && storage.size_bytes > Some(0), "{storage:?}");
    assert_eq!(storage.mount_point, Path::new("/"));
    let temporary = tempfile::tempdir().unwrap();
    assert!(Storage::of(temporary.path()).unwrap().available_bytes.is_some());
}
