//! Texts of several kernels, from 2.6.32 to 6.x.

use super::*;

const STAT_6_1: &str = "\
cpu  227419 100 49760 132096 1883 7 8368 3481 50 0
cpu0 109976 0 23559 71583 661 0 4018 1702 0 0
intr 2998793 0 0 9 0
ctxt 9087345
btime 1764538000
processes 7000
";

#[test]
fn stat_sums_what_belongs_together() {
    let kernel = parse_stat(STAT_6_1, 100).unwrap();
    assert_eq!(kernel.context_switches, 9_087_345);
    assert_eq!(
        kernel.cpu,
        CpuTimes {
            user_us: 2_275_190_000,
            system_us: 581_350_000,
            iowait_us: 18_830_000,
            steal_us: 34_810_000,
            idle_us: 1_320_960_000,
        },
        "guest time is in user already and not counted twice"
    );
}

#[test]
fn stat_of_an_old_kernel_has_fewer_fields() {
    let text = "cpu  100 0 50 1000 20 1 2\ncpu0 100 0 50 1000 20 1 2\nctxt 500\n";
    let kernel = parse_stat(text, 100).unwrap();
    assert_eq!((kernel.cpu.steal_us, kernel.cpu.system_us), (0, 530_000));
    assert_eq!(parse_stat(text, 250).unwrap().cpu.user_us, 400_000, "a tick is 4 ms there");
}

#[test]
fn broken_texts_give_nothing_instead_of_zeros() {
    for text in
        ["", "cpu", "cpu  1 2 3\nctxt 1\n", "cpu  1 2 3 4 5 6 7 8\n", "cpu a b c d\nctxt 1\n"]
    {
        assert_eq!(parse_stat(text, 100), None, "{text:?}");
    }
    assert_eq!(parse_meminfo("MemTotal: 100 kB\n"), None);
    assert_eq!(parse_vmstat("pswpin 1\n"), None);
    assert_eq!(parse_pressure(""), None);
    assert_eq!(parse_task_stat("1 (x R 1", 100), None);
    assert_eq!(parse_task_stat("", 100), None);
    assert_eq!(parse_diskstats("   8 0 sda 1 2\n", "8:0"), None);
}

#[test]
fn diskstats_of_three_kernels() {
    // 6.x: 17 figures; 4.18 to 5.4: 15; before: 11
    let text = "\
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 254       0 vda 219604 27484 11090386 385921 156938 78605 25327736 425843 3 56072 825149 11804 50 7167672 10368 3754 3014
 259       1 nvme0n1 10 0 80 5 20 0 160 6 0 7 8 2 0 32 1
   8      16 sdb 2701 184 72498 1780 411 129 5136 980 0 1450 2760
";
    let new = parse_diskstats(text, "254:0").unwrap();
    assert_eq!((new.reads, new.read_kib), (219_604, 5_545_193));
    assert_eq!((new.writes, new.written_kib), (156_938, 12_663_868));
    assert_eq!((new.flushes, new.discards), (Some(3754), Some(11_804)));
    assert_eq!(new.discarded_kib, Some(3_583_836));
    assert_eq!((new.busy_ms, new.queue_ms), (56_072, 825_149));
    let middle = parse_diskstats(text, "259:1").unwrap();
    assert_eq!((middle.reads, middle.discards, middle.flushes), (10, Some(2), None));
    let old = parse_diskstats(text, "8:16").unwrap();
    assert_eq!((old.writes, old.discards, old.discarded_kib), (411, None, None));
    assert_eq!(parse_diskstats(text, "8:1"), None, "16 is not 1");
    assert_eq!(parse_diskstats(text, "0:0"), None);
    assert_eq!(parse_diskstats(text, "nonsense"), None);
}

#[test]
fn meminfo_of_two_kernels() {
    let new = "\
MemTotal:       24683656 kB
MemFree:         1000000 kB
MemAvailable:   20000000 kB
Buffers:          200000 kB
Cached:          9000000 kB
SwapCached:            5 kB
SwapTotal:       2097148 kB
Dirty:            131372 kB
Writeback:            12 kB
WritebackTmp:          7 kB
HugePages_Total:       0
";
    let memory = parse_meminfo(new).unwrap();
    assert_eq!((memory.total_kib, memory.available_kib), (24_683_656, Some(20_000_000)));
    assert_eq!((memory.cached_kib, memory.swap_total_kib), (9_000_000, 2_097_148));
    assert_eq!((memory.dirty_kib, memory.writeback_kib), (131_372, 12));
    let old = "MemTotal: 4000 kB\nCached: 100 kB\nDirty: 3 kB\nWriteback: 0 kB\n";
    assert_eq!(parse_meminfo(old).unwrap().available_kib, None);
}

#[test]
fn vmstat_is_read_by_name() {
    let text = "nr_free_pages 10\npgmajfault 42\npswpin 7\npswpout 8\npgmajfault_s 9\n";
    let paging = parse_vmstat(text).unwrap();
    assert_eq!((paging.swapped_in_pages, paging.swapped_out_pages), (7, 8));
    assert_eq!(paging.major_faults, 42);
}

#[test]
fn pressure_with_and_without_full() {
    let io = "some avg10=1.33 avg60=0.83 avg300=0.76 total=24844530\n\
              full avg10=0.70 avg60=0.47 avg300=0.24 total=12275367\n";
    assert_eq!(
        parse_pressure(io),
        Some(Pressure { some_us: 24_844_530, full_us: Some(12_275_367) })
    );
    let cpu_5_4 = "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
    assert_eq!(parse_pressure(cpu_5_4), Some(Pressure { some_us: 7, full_us: None }));
}

#[test]
fn a_task_may_be_named_like_a_closing_parenthesis() {
    let text =
        "4242 (db) load (1)) S 1 4242 4242 0 -1 4194560 900 0 3 0 250 75 0 0 20 0 9 0 100 1 2 3\n";
    let task = parse_task_stat(text, 100).unwrap();
    assert_eq!(task.name, "db) load (1)");
    assert_eq!((task.user_us, task.system_us), (2_500_000, 750_000));
    assert_eq!(parse_schedstat_run_ns("3255000123 40000 17\n"), Some(3_255_000_123));
    assert_eq!(parse_schedstat_run_ns(""), None);
}

#[test]
fn mounts_keep_their_order_of_options_and_get_their_spaces_back() {
    let text = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,resuid=65534
31 27 8:17 / /mnt/my\\040disk rw,noatime shared:1 master:2 - xfs /dev/sdb1 rw,attr2,logbufs=8,noquota
40 27 0:45 /@data /srv rw,relatime shared:9 - btrfs /dev/mapper/vg-lv rw,ssd,subvolid=256,subvol=/@data
41 27 0:46 / /nfs ro - nfs4 host:/export\\134x rw,vers=4.2
broken line
";
    let mounts = parse_mountinfo(text);
    assert_eq!(mounts.len(), 4);
    assert_eq!(mounts[0].options, "rw,relatime");
    assert_eq!(mounts[1].mount_point, "/mnt/my disk");
    assert_eq!((mounts[1].fs_type.as_str(), mounts[1].number.as_str()), ("xfs", "8:17"));
    assert_eq!(mounts[1].super_options, "rw,attr2,logbufs=8,noquota");
    assert_eq!(mounts[2].source, "/dev/mapper/vg-lv");
    assert_eq!(mounts[3].source, "host:/export\\x");
    assert_eq!(unescape("a\\04 b\\"), "a\\04 b\\", "what is no escape stays");
}
