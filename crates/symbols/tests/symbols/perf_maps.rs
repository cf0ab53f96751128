//! Perf maps: their text, and which files are trusted.

use model::{Address, NameMissing, Pid};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::process::{Child, Command, Stdio};
use symbols::{PerfMap, Symbolizer, Tail, read_perf_map};

const HYGIENE: &[u8] = include_bytes!("../cases/perf_map/hygiene/perf-1234.map");

fn name_at(map: &PerfMap, address: u64) -> Option<String> {
    map.find(Address(address)).map(|code| code.name.into_owned())
}

#[test]
fn hygiene() {
    let map = PerfMap::parse(HYGIENE.to_vec(), Tail::Final);
    for (address, expected) in [
        (0x0fff, None),
        (0x1004, Some("new")),
        (0x1014, Some("overlap")),
        (0x101c, Some("new")),
        (0x1020, None),
        (0x2001, Some("hexprefix")),
        (0x2010, None),
        (0x3000, None),
        (0x4000, Some("zero")),
        (0x4fff, Some("zero")),
        (0x5008, Some("name with  two blanks;x")),
        (0x5010, None),
        (0x6001, Some("caf\\xe9")),
        (0x7100, Some("huge")),
        (u64::MAX - 1, Some("huge")),
    ] {
        assert_eq!(name_at(&map, address).as_deref(), expected, "{address:x}");
    }
    assert_eq!(map.rejected(), 2);
    let growing = PerfMap::parse(HYGIENE.to_vec(), Tail::MayGrow);
    assert_eq!(name_at(&growing, 0x7100), None);
    assert_eq!(growing.rejected(), 2);
}

#[test]
fn later_lines_take_what_they_cover() {
    let text = "10 10 a\n12 2 b\n18 20 c\n11 2 d\n0 100 under\n";
    let map = PerfMap::parse(text.into(), Tail::Final);
    assert_eq!(name_at(&map, 0x12).as_deref(), Some("under"));
    let map = PerfMap::parse(text.replace("0 100 under\n", "").into(), Tail::Final);
    let names: Vec<_> = (0x10..0x1a).map(|at| name_at(&map, at).unwrap()).collect();
    assert_eq!(names, ["a", "d", "d", "b", "a", "a", "a", "a", "c", "c"]);
    let starts: Vec<_> = [0x12, 0x14].map(|at| map.find(Address(at)).unwrap().start).into();
    assert_eq!(starts, [Address(0x11), Address(0x10)], "what a later line took moves no start");
}

/// Against a slow but simple reading of the rule.
#[test]
fn overlapping_lines_of_every_kind() {
    let mut seed = 7u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..300 {
        let lines: Vec<(u64, u64)> = (0..random(12)).map(|_| (random(40), random(14))).collect();
        let text: String =
            lines.iter().enumerate().map(|(n, (start, size))| format!("{start:x} {size:x} n{n}\n")).collect();
        let map = PerfMap::parse(text.clone().into(), Tail::Final);
        for address in 0..64 {
            let covers = |&(start, size): &(u64, u64)| {
                let next = lines.iter().map(|line| line.0).filter(|&other| other > start).min();
                let end = if size == 0 { next.unwrap_or(start + 1) } else { start + size };
                (start..end).contains(&address)
            };
            let expected = lines.iter().rposition(covers).map(|n| format!("n{n}"));
            assert_eq!(name_at(&map, address).as_deref(), expected.as_deref(), "{address:x} in\n{text}");
        }
    }
}

/// Takes minutes where each wide line looks at all narrow ones again.
#[test]
fn many_lines_over_the_same_memory() {
    let narrow = (0..100_000u64).map(|n| format!("{:x} 1 narrow\n", n * 16));
    let wide = (0..100_000).map(|_| "0 200000 wide\n".to_string());
    let text: String = wide.chain(narrow).collect();
    let map = PerfMap::parse(text.into(), Tail::Final);
    assert_eq!(name_at(&map, 0x20).as_deref(), Some("narrow"));
    assert_eq!(name_at(&map, 0x21).as_deref(), Some("wide"));
}

#[test]
fn what_is_no_map() {
    for text in
        [&b""[..], b"\n\n", b"\0\0\0\0", b"1 2", b"1 2 ", b"x y z\n", b"11111111111111111 1 long\n", b"\xff\xff 1 x\n"]
    {
        assert!(PerfMap::parse(text.to_vec(), Tail::Final).is_empty(), "{text:?}");
    }
    let windows = PerfMap::parse(b"ffffffffffffffff 1 last\n".to_vec(), Tail::Final);
    assert!(windows.find(Address(0)).is_none());
}

/// A process that waits, and its map in /tmp, which goes with it.
struct Waiting {
    child: Child,
    map: String,
}

impl Waiting {
    fn new() -> Self {
        let child = Command::new("sleep").arg("60").stdout(Stdio::null()).spawn().unwrap();
        let map = format!("/tmp/perf-{}.map", child.id());
        Self { child, map }
    }
    fn pid(&self) -> Pid {
        Pid(self.child.id())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.map);
    }
}

#[test]
fn a_process_and_its_end() {
    let mut process = Waiting::new();
    let mut symbolizer = Symbolizer::default();
    assert_eq!(symbolizer.generated(process.pid(), &[0x1004]).found[0], Err(NameMissing::NoJitMap));
    fs::write(&process.map, HYGIENE).unwrap();
    let generated = symbolizer.generated(process.pid(), &[0x1004, 0x7100]);
    let found = &generated.found;
    assert_eq!(found[0].as_ref().unwrap()[0].name, "new");
    assert_eq!(found[0].as_ref().unwrap()[0].offset, Some(4));
    assert_eq!(generated.rejected, 2);
    assert_eq!(found[1], Err(NameMissing::NoJitMap), "the last line may still grow");
    // Dead, and not waited for: it has no files any more.
    process.child.kill().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(symbolizer.generated(process.pid(), &[0x7100]).found[0].is_ok());
    process.child.wait().unwrap();
    assert!(symbolizer.generated(process.pid(), &[0x7100]).found[0].is_ok());
}

#[test]
fn links_and_folders_are_refused() {
    let process = Waiting::new();
    let target = tempfile::NamedTempFile::new().unwrap();
    fs::write(target.path(), HYGIENE).unwrap();
    symlink(target.path(), &process.map).unwrap();
    assert_eq!(read_perf_map(process.pid()).err(), Some(NameMissing::Permission));
    fs::remove_file(&process.map).unwrap();
    fs::create_dir(&process.map).unwrap();
    assert_eq!(read_perf_map(process.pid()).err(), Some(NameMissing::Permission));
    fs::remove_dir(&process.map).unwrap();
    let made = Command::new("mkfifo").arg(&process.map).status().unwrap();
    assert!(made.success());
    assert_eq!(read_perf_map(process.pid()).err(), Some(NameMissing::Permission));
}

#[test]
fn root_another_users_map_is_refused() {
    if !testkit::requires::root() {
        return;
    }
    let process = Waiting::new();
    fs::write(&process.map, HYGIENE).unwrap();
    fs::set_permissions(&process.map, fs::Permissions::from_mode(0o644)).unwrap();
    chown(&process.map, Some(12345), None).unwrap();
    assert_eq!(read_perf_map(process.pid()).err(), Some(NameMissing::Permission));
    // The process's own user may be anyone.
    let mut child = Command::new("setpriv").args(["--reuid=12345", "--clear-groups", "sleep", "60"]).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    while !fs::read_to_string(&status).unwrap().contains("Uid:\t12345") {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let map = format!("/tmp/perf-{}.map", child.id());
    fs::rename(&process.map, &map).unwrap();
    let found = read_perf_map(Pid(child.id()));
    fs::remove_file(map).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!found.unwrap().is_empty());
}

/// In a pid namespace and under a root of its own, the process has another number and
/// another /tmp.
#[test]
fn root_a_process_in_namespaces() {
    if !testkit::requires::root() {
        return;
    }
    let script = "mount -t tmpfs none /tmp && printf '1000 10 inside\\n' > /tmp/perf-1.map && exec sleep 60";
    let mut child = Command::new("unshare")
        .args(["--mount", "--pid", "--fork", "--kill-child", "--propagation=private", "sh", "-c", script])
        .spawn()
        .unwrap();
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let mut found = None;
    for _ in 0..400 {
        std::thread::sleep(std::time::Duration::from_millis(5));
        let inner = fs::read_to_string(&children).ok().and_then(|text| text.trim().parse().ok());
        found = inner.and_then(|pid| read_perf_map(Pid(pid)).ok()).filter(|map| !map.is_empty());
        if found.is_some() {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(name_at(&found.expect("no map was found"), 0x1000).as_deref(), Some("inside"));
}
