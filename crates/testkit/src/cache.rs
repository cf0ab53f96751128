//! Where built workloads are kept: a folder under cargo's target directory, one subfolder for
//! each set of inputs. What is there is whole; what is being made is elsewhere until it is.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// The folder of all entries. Each user has an own one, so that what was built under sudo does
/// not stand in the way later.
pub fn directory() -> PathBuf {
    let target = std::env::current_exe().ok().and_then(|exe| target_directory(&exe));
    let user = rustix::process::geteuid().as_raw();
    target.unwrap_or_else(std::env::temp_dir).join(format!("testkit-{user}"))
}

/// The folder that holds what `make` makes of `inputs`: made now, unless it was made before,
/// by whichever thread or process. `make` gets an empty folder to write to.
///
/// # Panics
/// If the cache cannot be written.
pub fn entry(inputs: &impl Hash, make: impl FnOnce(&Path)) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    inputs.hash(&mut hasher);
    let root = directory();
    fs::create_dir_all(&root).unwrap_or_else(|error| panic!("creating `{}`: {error}", root.display()));
    let place = root.join(format!("{:016x}", hasher.finish()));
    let lock_path = place.with_extension("lock");
    let lock = File::create(&lock_path).unwrap_or_else(|error| panic!("creating `{}`: {error}", lock_path.display()));
    lock.lock().unwrap_or_else(|error| panic!("locking `{}`: {error}", lock_path.display()));
    if !place.is_dir() {
        let unfinished =
            tempfile::tempdir_in(&root).unwrap_or_else(|error| panic!("writing `{}`: {error}", root.display()));
        make(unfinished.path());
        let unfinished = unfinished.keep();
        fs::rename(&unfinished, &place).unwrap_or_else(|error| panic!("naming `{}`: {error}", place.display()));
        // A temporary folder is its owner's only; a test may run a workload as another user.
        let all_may_read = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&place, all_may_read).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
    }
    place
}

/// Cargo marks its target directory with a file.
fn target_directory(exe: &Path) -> Option<PathBuf> {
    exe.ancestors().find(|at| at.join("CACHEDIR.TAG").is_file()).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn an_entry_is_made_once_however_many_ask() {
        let made = AtomicU32::new(0);
        let inputs = ("an entry", std::process::id());
        let places: Vec<PathBuf> = std::thread::scope(|scope| {
            let ask = || {
                entry(&inputs, |into| {
                    made.fetch_add(1, Ordering::Relaxed);
                    fs::write(into.join("file"), "whole").unwrap();
                })
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(made.into_inner(), 1);
        assert!(places.iter().all(|place| fs::read(place.join("file")).unwrap() == b"whole"));
        fs::remove_dir_all(&places[0]).unwrap();
        fs::remove_file(places[0].with_extension("lock")).unwrap();
    }

    #[test]
    fn the_target_directory_is_found_from_a_test_binary() {
        let exe = std::env::current_exe().unwrap();
        assert!(exe.starts_with(target_directory(&exe).unwrap()));
    }
}
