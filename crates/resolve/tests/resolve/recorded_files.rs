//! Which file a recording's mapping is taken for, with programs that are built here.

use super::{event, sample};
use model::{
    Address, Body, BuildId, CallGraph, Detail, EventDescription, FileIdentity, FileOffset, Inode, Mapping, NameMissing,
    Pid, Recording, Sampling, TaskIds, Unit, context_words as context,
};
use resolve::{Files, Options, RecordedFiles, Resolver, SearchPlaces};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "__attribute__((noinline)) int work(int x) { __asm__ volatile(\"\"); return x * 3; }\n\
                      int main(int argc, char **argv) { (void)argv; return work(argc); }\n";

/// A folder with a program, in two builds.
struct Folder {
    dir: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        let folder = Self { dir: tempfile::tempdir().unwrap() };
        fs::write(folder.path("a.c"), SOURCE).unwrap();
        folder.build("program", "0xabcdef01");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run(&self, tool: &str, args: &[&str]) {
        let output = Command::new(tool).args(args).current_dir(self.dir.path()).output().unwrap();
        assert!(output.status.success(), "{tool} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn build(&self, name: &str, build_id: &str) {
        let build_id = format!("-Wl,--build-id={build_id}");
        self.run("gcc", &["-g", "-O1", "a.c", "-o", name, &build_id]);
    }

    /// Moves a file to a path within the folder.
    fn put(&self, name: &str, to: &Path) {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(self.path(name), to).unwrap();
    }

    /// Where `symfs` holds the program.
    fn in_symfs(&self) -> PathBuf {
        self.path("symfs").join(self.path("program").strip_prefix("/").unwrap())
    }

    fn places(&self) -> SearchPlaces {
        SearchPlaces {
            symfs: Some(self.path("symfs")),
            debug_dirs: vec![self.path("debug")],
            build_id_cache: Some(self.path("cache")),
        }
    }

    fn files(&self) -> RecordedFiles {
        RecordedFiles { places: self.places(), ..RecordedFiles::default() }
    }

    /// What `files` takes the program for.
    fn open(&self, files: &RecordedFiles, identity: FileIdentity) -> Result<u64, NameMissing> {
        self.open_path(files, identity, self.path("program").as_os_str().as_bytes())
    }

    fn open_path(&self, files: &RecordedFiles, identity: FileIdentity, path: &[u8]) -> Result<u64, NameMissing> {
        files.open(Pid(1), &mapping(path, identity, 0, 0x1000)).map(|file| file.metadata().unwrap().ino())
    }
}

fn mapping(path: &[u8], identity: FileIdentity, offset: u64, len: u64) -> Mapping<'_> {
    let (start, offset) = (Address(0x7000_0000_0000), FileOffset(offset));
    Mapping { start, len, offset, identity, path, kernel: false }
}

fn inode(path: &Path) -> u64 {
    fs::metadata(path).unwrap().ino()
}

fn by_inode(number: u64) -> FileIdentity {
    FileIdentity::Inode(Inode { major: 0, minor: 0, number, generation: 0 })
}

fn id(bytes: &[u8]) -> BuildId {
    BuildId::new(bytes).unwrap()
}

const OURS: [u8; 4] = [0xab, 0xcd, 0xef, 0x01];

#[test]
fn the_build_id_decides_between_two_builds_of_one_path() {
    let folder = Folder::new();
    let ours = FileIdentity::BuildId(id(&OURS));
    let own = inode(&folder.path("program"));
    assert_eq!(folder.open(&folder.files(), ours), Ok(own));
    let padded = FileIdentity::BuildId(id(&[&OURS[..], &[0; 16]].concat()));
    assert_eq!(folder.open(&folder.files(), padded), Ok(own));
    // The program was built again after the recording.
    folder.put("program", &folder.path("old"));
    folder.build("program", "0x1234");
    assert_eq!(folder.open(&folder.files(), ours), Err(NameMissing::OtherBuild));
    fs::remove_file(folder.path("program")).unwrap();
    assert_eq!(folder.open(&folder.files(), ours), Err(NameMissing::FileGone));
    // What lies under the build id is the right file, if its own build id says so, too.
    folder.put("old", &folder.path("cache/.build-id/ab/cdef01/elf"));
    assert_eq!(folder.open(&folder.files(), padded), Ok(own));
    folder.build("other", "0x1234");
    folder.put("other", &folder.path("cache/.build-id/ab/cdef01/elf"));
    assert_eq!(folder.open(&folder.files(), ours), Err(NameMissing::FileGone));
}

#[test]
fn the_given_tree_comes_before_the_path() {
    let folder = Folder::new();
    let (ours, theirs) = (FileIdentity::BuildId(id(&OURS)), FileIdentity::BuildId(id(&[0x12, 0x34])));
    folder.build("other", "0x1234");
    folder.put("other", &folder.in_symfs());
    let files = folder.files();
    assert_eq!(folder.open(&files, theirs), Ok(inode(&folder.in_symfs())));
    assert_eq!(folder.open(&files, ours), Ok(inode(&folder.path("program"))));
    // Nothing is known of the file: the user vouches for the tree.
    assert_eq!(folder.open(&files, FileIdentity::Unknown), Ok(inode(&folder.in_symfs())));
}

#[test]
fn build_ids_beside_the_mappings_count() {
    let folder = Folder::new();
    let path: Box<[u8]> = folder.path("program").as_os_str().as_bytes().into();
    let own = inode(&folder.path("program"));
    let with = |build_id| RecordedFiles { build_ids: [(path.clone(), build_id)].into(), ..folder.files() };
    for identity in [FileIdentity::Unknown, by_inode(1)] {
        assert_eq!(folder.open(&with(id(&OURS)), identity), Ok(own));
        assert_eq!(folder.open(&with(id(&[9])), identity), Err(NameMissing::OtherBuild));
    }
    let deleted = [&path[..], b" (deleted)"].concat();
    assert_eq!(folder.open_path(&with(id(&OURS)), by_inode(1), &deleted), Ok(own));
}

#[test]
fn without_a_build_id_the_inode_or_the_machine_vouches() {
    let folder = Folder::new();
    let own = inode(&folder.path("program"));
    let elsewhere = folder.files();
    let here = RecordedFiles { same_machine: true, ..folder.files() };
    for files in [&elsewhere, &here] {
        assert_eq!(folder.open(files, by_inode(own)), Ok(own));
        assert_eq!(folder.open(files, by_inode(own + 1)), Err(NameMissing::Replaced));
    }
    assert_eq!(folder.open(&here, FileIdentity::Unknown), Ok(own));
    assert_eq!(folder.open(&elsewhere, FileIdentity::Unknown), Err(NameMissing::Replaced));
    let path = folder.path("program");
    let deleted = [path.as_os_str().as_bytes(), b" (deleted)"].concat();
    assert_eq!(folder.open_path(&here, FileIdentity::Unknown, &deleted), Err(NameMissing::Replaced));
    for nothing in [&b"/no/such/file"[..], b"[stack]", b"relative"] {
        assert_eq!(folder.open_path(&here, FileIdentity::Unknown, nothing), Err(NameMissing::FileGone));
    }
}

#[test]
fn pipes_are_not_waited_for_and_nothing_escapes_the_tree() {
    let folder = Folder::new();
    let own = inode(&folder.path("program"));
    let ours = FileIdentity::BuildId(id(&OURS));
    fs::create_dir_all(folder.in_symfs().parent().unwrap()).unwrap();
    folder.run("mkfifo", &[folder.in_symfs().to_str().unwrap()]);
    assert_eq!(folder.open(&folder.files(), ours), Ok(own));
    folder.put("program", &folder.path("moved"));
    folder.run("mkfifo", &["program"]);
    assert_eq!(folder.open(&folder.files(), ours), Err(NameMissing::Unreadable));
    assert_eq!(folder.open(&folder.files(), FileIdentity::Unknown), Err(NameMissing::Unreadable));
    // Neither by the recording's path nor by a link does the tree lead to a file outside.
    let outside = [b"/..".repeat(20), folder.path("moved").as_os_str().as_bytes().to_vec()].concat();
    let files = RecordedFiles { same_machine: false, ..folder.files() };
    assert_eq!(folder.open_path(&files, FileIdentity::Unknown, &outside), Err(NameMissing::Replaced));
    symlink(folder.path("moved"), folder.path("symfs/link")).unwrap();
    assert_eq!(folder.open_path(&files, FileIdentity::Unknown, b"/link"), Err(NameMissing::FileGone));
}

#[test]
fn a_vdso_is_ours_only_on_this_machine() {
    let here = RecordedFiles { same_machine: true, ..RecordedFiles::default() };
    let Ok(own) = here.vdso() else { return };
    assert_eq!(RecordedFiles::default().vdso().err(), Some(NameMissing::FileGone));
    let own = elf::Image::open(&own).unwrap().build_id().unwrap();
    let with = |build_id| RecordedFiles { build_ids: [((*b"[vdso]").into(), build_id)].into(), ..here.clone() };
    assert!(with(own).vdso().is_ok());
    assert_eq!(with(id(&OURS)).vdso().err(), Some(NameMissing::OtherBuild));
}

/// The binary is gone, but its debug file names its functions all the same.
#[test]
fn a_debug_file_stands_in_for_its_binary() {
    for flags in [&[][..], &["-Wl,-z,noseparate-code"], &["-no-pie"], &["-fuse-ld=gold"]] {
        let folder = Folder::new();
        folder.run("gcc", &[&["-g", "-O1", "a.c", "-o", "program", "-Wl,--build-id=0xabcdef01"], flags].concat());
        let image = elf::Image::open(&File::open(folder.path("program")).unwrap()).unwrap();
        let mut work = None;
        let symbols = image.symbols().unwrap();
        let visit = |symbol: elf::Symbol| {
            if symbols.name(&symbol).unwrap() == b"work" {
                work = Some(symbol.address);
            }
        };
        symbols.for_each(visit).unwrap();
        // As the loader maps the segment of the code.
        let work = work.unwrap();
        let segment = image.segments().iter().find(|segment| segment.addresses().contains(&work)).unwrap();
        let first = segment.file_offset % 4096;
        let code = mapping(
            b"/gone/program",
            FileIdentity::BuildId(id(&OURS)),
            segment.file_offset - first,
            (first + segment.file_size).next_multiple_of(4096),
        );
        let address = code.start.0 + first + (work - segment.address) + 3;
        folder.run("objcopy", &["--only-keep-debug", "program", "whole.debug"]);
        folder.put("whole.debug", &folder.path("debug/.build-id/ab/cdef01.debug"));

        let options = Options {
            recording: Recording::default(),
            events: vec![EventDescription {
                name: "cpu-clock".into(),
                unit: Unit::Nanoseconds,
                sampling: Sampling::Frequency(997),
            }],
            detail: Detail::Timeline,
            idle: false,
            kernel: resolve::KernelSource::Live { cache: None },
            ahead: None,
            call_graph: CallGraph::FramePointer,
            max_frames: 1024,
            kernel_limit: 127,
        };
        let mut resolver = Resolver::new(options, Box::new(folder.files()));
        let task = TaskIds::new(10, 10);
        resolver.event(&event(task, 1, Body::Exec(b"program")));
        resolver.event(&event(task, 2, Body::Mapping(code)));
        resolver.event(&sample(task, 3, &[context::USER, address]));
        let profile = resolver.finish(symbols::Options::default(), &|| false);
        let row = profile.samples.iter().next().unwrap();
        let leaf = profile.stacks.leaf_first(row.stack).next().unwrap();
        let frames = profile.frames(leaf).unwrap();
        assert_eq!(profile.text(profile.functions[frames[0].function].name), "work", "{flags:?}");
        assert_eq!(frames[0].offset, Some(3), "{flags:?}");
    }
}
