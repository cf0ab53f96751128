//! Which symbols a recording's kernel is named by. A program that is linked where a kernel lies
//! stands for its `vmlinux`.

use model::{Address, BuildId, FileIdentity, FileOffset, Mapping, NameMissing};
use resolve::{Kernel, KernelSource, RecordedKernel, SearchPlaces};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use symbols::KernelSymbols;

/// Where the text lay when it was recorded, and where `vmlinux` has it.
const RECORDED: u64 = 0xffff_ffff_9a00_0000;
const LINKED: u64 = 0xffff_ffff_8100_0000;

fn build_id() -> BuildId {
    BuildId::new(&[0xab, 0xcd, 0xef, 0x01]).unwrap()
}

/// Writes a `vmlinux` to `path`, in which `entry` starts 16 bytes behind `_text`.
fn build(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let source = path.with_extension("s");
    let text = ".globl _text, entry\n_text: nop\n.balign 16\n.type entry, @function\nentry: nop\nret\n";
    fs::write(&source, text).unwrap();
    let mut gcc = Command::new("gcc");
    gcc.args(["-nostdlib", "-static", "-Wl,-e,entry", "-Wl,--build-id=0xabcdef01"]);
    gcc.arg(format!("-Wl,-Ttext={LINKED:#x}")).arg(&source).arg("-o").arg(path);
    assert!(gcc.status().unwrap().success());
}

/// What the function at a recorded address is called, and how far the address lies behind it.
fn name(kernel: RecordedKernel, identity: FileIdentity, address: u64) -> Result<(String, u64), NameMissing> {
    let mut kernel = Kernel::new(KernelSource::Recorded(kernel));
    kernel.map(&Mapping {
        start: Address(RECORDED),
        len: 0x1000,
        offset: FileOffset(RECORDED),
        identity,
        path: b"[kernel.kallsyms]_text",
        kernel: true,
    });
    assert_eq!(kernel.name_of(Address(address)), "[kernel]");
    let mut image = kernel.image()?;
    let (symbol, at) = image.find(Address(address))?;
    Ok((String::from_utf8_lossy(symbol.name).into_owned(), at.0 - symbol.start.0))
}

fn recorded(places: SearchPlaces, build_id: Option<BuildId>) -> RecordedKernel {
    RecordedKernel { build_id, release: Some("6.1.0-18-amd64".into()), places, ..RecordedKernel::default() }
}

#[test]
fn a_vmlinux_is_found_by_build_id_or_in_the_given_tree() {
    let folder = tempfile::tempdir().unwrap();
    let (symfs, debug) = (folder.path().join("symfs"), folder.path().join("debug"));
    let in_symfs = || SearchPlaces { symfs: Some(symfs.clone()), ..SearchPlaces::default() };
    let in_debug = || SearchPlaces { debug_dirs: vec![debug.clone()], ..SearchPlaces::default() };
    let found = Ok(("entry".to_owned(), 1));
    let at = RECORDED + 17;
    let other = BuildId::new(&[1]);
    let unknown = FileIdentity::Unknown;

    build(&debug.join("boot/vmlinux-6.1.0-18-amd64"));
    assert_eq!(name(recorded(in_debug(), Some(build_id())), unknown, at), found);
    assert_eq!(name(recorded(in_debug(), None), FileIdentity::BuildId(build_id()), at), found);
    assert_eq!(name(recorded(in_debug(), other), unknown, at), Err(NameMissing::OtherKernel));
    assert_eq!(name(recorded(in_debug(), None), unknown, at), Err(NameMissing::OtherKernel));

    build(&debug.join(".build-id/ab/cdef01.debug"));
    fs::remove_dir_all(debug.join("boot")).unwrap();
    assert_eq!(name(recorded(in_debug(), Some(build_id())), unknown, at), found);

    build(&symfs.join("usr/lib/debug/boot/vmlinux-6.1.0-18-amd64"));
    assert_eq!(name(recorded(in_symfs(), None), unknown, at), found);
    assert_eq!(name(recorded(in_symfs(), other), unknown, at), Err(NameMissing::OtherKernel));
    assert_eq!(name(recorded(in_symfs(), None), unknown, RECORDED - 1), Err(NameMissing::Stripped));
}

#[test]
fn given_symbols_and_perfs_copy_are_moved_to_where_they_were_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let text = "ffffffffa0000000 T _text\nffffffffa0000010 t entry\nffffffffa0001000 T _etext\n";
    let cached = folder.path().join("cache/.build-id/ab/cdef01/kallsyms");
    fs::create_dir_all(cached.parent().unwrap()).unwrap();
    fs::write(&cached, text).unwrap();
    let found = Ok(("entry".to_owned(), 1));
    let places = SearchPlaces { build_id_cache: Some(folder.path().join("cache")), ..SearchPlaces::default() };
    assert_eq!(name(recorded(places, Some(build_id())), FileIdentity::Unknown, RECORDED + 17), found);
    let given = KernelSymbols::from_file(File::open(&cached).unwrap()).unwrap();
    let given = RecordedKernel { given: Some(given), ..RecordedKernel::default() };
    assert_eq!(name(given, FileIdentity::Unknown, RECORDED + 17), found);
}
