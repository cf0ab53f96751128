//! Separate debug files, found by build id and by link, and the wrong ones that are refused.

use crate::inlines::{build, chain_of_mark};
use crate::{Workshop, names, shown};
use std::fs;

/// A stripped program, whose debug information lies in `whole.debug`, and the address of
/// the mark.
fn split(flags: &[&str]) -> (Workshop, u64) {
    let shop = build(&[&["-g"], flags].concat());
    let mark = shop.nm("program", "mark");
    shop.run("objcopy", &["--only-keep-debug", "program", "whole.debug"]);
    shop.run("objcopy", &["--strip-all", "--add-gnu-debuglink=whole.debug", "program"]);
    (shop, mark)
}

/// Moves the debug file to a path within the workshop.
fn put(shop: &Workshop, to: &str) {
    fs::create_dir_all(shop.path(to).parent().unwrap()).unwrap();
    fs::rename(shop.path("whole.debug"), shop.path(to)).unwrap();
}

fn build_id(shop: &Workshop) -> String {
    let file = fs::File::open(shop.path("program")).unwrap();
    elf::Image::open(&file).unwrap().build_id().unwrap().to_string()
}

#[test]
fn by_link_in_every_folder() {
    let folders: [fn(&Workshop) -> String; 3] = [
        |_| "whole.debug".into(),
        |_| ".debug/whole.debug".into(),
        |shop| format!("debug{}/whole.debug", shop.dir.path().display()),
    ];
    for flags in [&[][..], &["-Wl,--build-id=none"]] {
        for folder in folders {
            let (shop, mark) = split(flags);
            put(&shop, "elsewhere");
            assert!(shop.look_up("program", &[mark])[0].is_err(), "nothing to be found yet");
            fs::rename(shop.path("elsewhere"), shop.path("whole.debug")).unwrap();
            put(&shop, &folder(&shop));
            let found = shop.look_up("program", &[mark, shop.nm(&folder(&shop), "i")]);
            assert_eq!(shown(&found[0]), Ok(chain_of_mark()), "{flags:?} {}", folder(&shop));
            assert_eq!(names(&found[1]).unwrap(), ["i"]);
        }
    }
}

#[test]
fn by_build_id() {
    let (shop, mark) = split(&[]);
    shop.run("objcopy", &["--remove-section=.gnu_debuglink", "program"]);
    let id = build_id(&shop);
    put(&shop, &format!("debug/.build-id/{}/{}.debug", &id[..2], &id[2..]));
    assert_eq!(shown(&shop.look_up("program", &[mark])[0]), Ok(chain_of_mark()));
    // The program's own path does not matter then.
    fs::rename(shop.path("program"), shop.path("moved")).unwrap();
    assert_eq!(shown(&shop.look_up("moved", &[mark])[0]), Ok(chain_of_mark()));
}

/// The program's names stay where the debug file has none.
#[test]
fn a_debug_file_without_symbols() {
    let (shop, mark) = {
        let shop = build(&["-g", "-rdynamic"]);
        let mark = shop.nm("program", "mark");
        shop.run("objcopy", &["--only-keep-debug", "program", "whole.debug"]);
        shop.run("objcopy", &["--strip-all", "--add-gnu-debuglink=whole.debug", "program"]);
        (shop, mark)
    };
    shop.run("objcopy", &["--remove-section=.symtab", "--remove-section=.strtab", "whole.debug"]);
    assert_eq!(shown(&shop.look_up("program", &[mark])[0]), Ok(chain_of_mark()));
}

#[test]
fn the_wrong_file_is_refused() {
    // Another program's debug information, which would name the address after something else.
    let other = build(&["-g", "-O0", "-DOTHER"]);
    other.run("objcopy", &["--only-keep-debug", "program", "whole.debug"]);
    for flags in [&[][..], &["-Wl,--build-id=none"]] {
        let (shop, mark) = split(flags);
        fs::copy(other.path("whole.debug"), shop.path("whole.debug")).unwrap();
        assert!(shop.look_up("program", &[mark])[0].is_err(), "{flags:?}");
    }
    let (shop, mark) = split(&[]);
    let id = build_id(&shop);
    fs::copy(other.path("whole.debug"), shop.path("whole.debug")).unwrap();
    put(&shop, &format!("debug/.build-id/{}/{}.debug", &id[..2], &id[2..]));
    assert!(shop.look_up("program", &[mark])[0].is_err());
}

#[test]
fn what_is_no_file_is_passed_over() {
    let (shop, mark) = split(&[]);
    put(&shop, ".debug/whole.debug");
    fs::create_dir(shop.path("whole.debug")).unwrap();
    assert_eq!(shown(&shop.look_up("program", &[mark])[0]), Ok(chain_of_mark()));
    fs::remove_dir(shop.path("whole.debug")).unwrap();
    shop.run("mkfifo", &["whole.debug"]);
    assert_eq!(shown(&shop.look_up("program", &[mark])[0]), Ok(chain_of_mark()));
    fs::remove_file(shop.path("whole.debug")).unwrap();
    fs::write(shop.path("whole.debug"), "no ELF file").unwrap();
    assert_eq!(shown(&shop.look_up("program", &[mark])[0]), Ok(chain_of_mark()));
}
