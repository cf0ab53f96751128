//! Cgroups by their names: which folders they are, whether perf_event_open(2) can count by them,
//! and where it cannot, which processes are in them.

mod hierarchies;

use crate::error::Error;
use hierarchies::{Controller, Hierarchies, Hierarchy, Version};
use model::Pid;
use std::collections::BTreeSet;
use std::fs;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The cgroups that were asked for.
#[derive(Clone, Debug)]
pub(crate) enum Cgroups {
    /// Their folders: the kernel can count by them.
    Counted(Vec<Arc<OwnedFd>>),
    /// The processes that are in them: the kernel counts by those of another hierarchy.
    Listed {
        /// The processes, those of cgroups further below included.
        pids: Vec<Pid>,
        /// What the user must know of it.
        remark: String,
    },
}

/// Finds cgroups: paths below the root of a hierarchy such as `system.slice/ssh.service`, or of
/// their folders.
pub(crate) fn find(names: &[PathBuf]) -> Result<Cgroups, Error> {
    find_in(&Hierarchies::read(), names)
}

fn find_in(hierarchies: &Hierarchies, names: &[PathBuf]) -> Result<Cgroups, Error> {
    if hierarchies.mounted.is_empty() {
        let why = "no cgroups can be seen here: `sudo mount -t cgroup2 none /sys/fs/cgroup` shows them";
        return Err(Error::NoTarget(format!("observe cgroup `{}`: {why}", names[0].display())));
    }
    let mut found = names.iter().map(|name| locate(hierarchies, name)).collect::<Result<Vec<_>, _>>()?;
    found.sort();
    // What lies within another is counted with it.
    found.dedup_by(|inner, outer| inner.hierarchy == outer.hierarchy && inner.folder.starts_with(&outer.folder));
    match found.iter().find(|located| Controller::In(located.hierarchy) != hierarchies.controller) {
        None => open(&found).map(Cgroups::Counted),
        Some(foreign) => list(hierarchies, &found, foreign),
    }
}

/// A cgroup's folder, and the place of its hierarchy in the list.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Located {
    folder: PathBuf,
    hierarchy: usize,
}

fn locate(hierarchies: &Hierarchies, name: &Path) -> Result<Located, Error> {
    let preferred = match hierarchies.controller {
        Controller::In(index) => Some(index),
        Controller::NotMounted(_) | Controller::Disabled => None,
    };
    let all = 0..hierarchies.mounted.len();
    let by_preference = preferred.into_iter().chain(all.filter(|&index| Some(index) != preferred));
    by_preference
        .filter_map(|hierarchy| {
            let root = &hierarchies.mounted[hierarchy].root;
            let folder = root.join(below(root, name)?);
            is_cgroup(&folder).then_some(Located { folder, hierarchy })
        })
        .next()
        .ok_or_else(|| Error::NoTarget(not_found(hierarchies, name)))
}

/// The part of a name that is below the root of a hierarchy. Names come as paths of folders, and
/// as /proc/PID/cgroup shows them, with a slash in front. `None` where it leads elsewhere.
fn below<'a>(root: &Path, name: &'a Path) -> Option<&'a Path> {
    let plain = name.components().all(|part| !matches!(part, Component::ParentDir));
    let relative = name.strip_prefix(root).or_else(|_| name.strip_prefix("/")).unwrap_or(name);
    plain.then_some(relative)
}

/// Every cgroup has this file, of both versions, and nothing else has.
fn is_cgroup(folder: &Path) -> bool {
    folder.join("cgroup.procs").exists()
}

fn open(found: &[Located]) -> Result<Vec<Arc<OwnedFd>>, Error> {
    let open = |located: &Located| match File::open(&located.folder) {
        Ok(folder) => Ok(Arc::new(OwnedFd::from(folder))),
        Err(error) => Err(Error::NoTarget(format!("observe cgroup `{}`: {error}", located.folder.display()))),
    };
    found.iter().map(open).collect()
}

/// The processes of cgroups by which the kernel does not count.
fn list(hierarchies: &Hierarchies, found: &[Located], foreign: &Located) -> Result<Cgroups, Error> {
    let why = format!("`{}` is there, but {}", foreign.folder.display(), why_not_counted(hierarchies));
    let mut pids = BTreeSet::new();
    found.iter().for_each(|located| collect_processes(&located.folder, &mut pids));
    if pids.is_empty() {
        return Err(Error::NoTarget(format!("observe cgroup: {why}; and no process is in it now")));
    }
    let remark =
        format!("{why}: the processes in it now are sampled ({}), those that join later are missed", pids.len());
    Ok(Cgroups::Listed { pids: pids.into_iter().collect(), remark })
}

fn why_not_counted(hierarchies: &Hierarchies) -> String {
    match hierarchies.controller {
        Controller::In(index) => {
            let there = &hierarchies.mounted[index];
            let remedy = match there.version {
                Version::V1 => " (all in one: boot with `systemd.unified_cgroup_hierarchy=1`)",
                Version::V2 => "",
            };
            format!("the kernel counts by the cgroups below `{}`{remedy}", there.root.display())
        }
        Controller::NotMounted(Version::V1) => "the kernel counts by the cgroups of a hierarchy that is not mounted \
                                                here (`sudo mount -t cgroup -o perf_event none FOLDER`)"
            .into(),
        Controller::NotMounted(Version::V2) => "the kernel counts by the cgroups of version 2, which are not mounted \
                                                here (`sudo mount -t cgroup2 none FOLDER`)"
            .into(),
        Controller::Disabled => "the kernel was started with `cgroup_disable=perf_event`".into(),
    }
}

fn collect_processes(folder: &Path, pids: &mut BTreeSet<Pid>) {
    // A cgroup of threads has no list of processes; those are in the list of the one above it.
    let listed = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    // Processes outside of our PID namespace come as 0.
    pids.extend(listed.lines().filter_map(|line| line.parse().ok()).filter(|&pid| pid != 0).map(Pid));
    folders_in(folder).for_each(|inner| collect_processes(&inner, pids));
}

fn folders_in(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path())
}

/// How many folders are looked through for a name that is like the one asked for.
const MOST_LOOKED_AT: usize = 4000;
/// How many such names are told.
const MOST_TOLD: usize = 3;

fn not_found(hierarchies: &Hierarchies, name: &Path) -> String {
    // Those that people mean come first.
    let mut mounted: Vec<(usize, &Hierarchy)> = hierarchies.mounted.iter().enumerate().collect();
    mounted
        .sort_by_key(|(index, mount)| (Controller::In(*index) != hierarchies.controller, mount.version != Version::V2));
    let roots: Vec<String> = mounted.iter().map(|(_, mount)| format!("`{}`", mount.root.display())).collect();
    let looked = match &roots[..] {
        [few @ .., last] if few.len() < MOST_TOLD && !few.is_empty() => format!("{} or {last}", few.join(", ")),
        [one] => one.clone(),
        many => format!("{} or {} other hierarchies", many[..MOST_TOLD].join(", "), many.len() - MOST_TOLD),
    };
    let like: Vec<String> = names_like(hierarchies, name).iter().map(|name| format!("`{}`", name.display())).collect();
    let hint = match &like[..] {
        [] => "; `systemd-cgls` or `/proc/PID/cgroup` shows what there is".into(),
        names => format!("; there is {}", names.join(", ")),
    };
    format!("observe cgroup `{}`: there is none of this name below {looked}{hint}", name.display())
}

/// Cgroups whose own name is that of the wanted one, or holds it: the folders above it are what
/// people leave out.
fn names_like(hierarchies: &Hierarchies, name: &Path) -> Vec<PathBuf> {
    let Some(wanted) = name.file_name().and_then(|own| own.to_str()) else { return Vec::new() };
    let mut like = BTreeSet::new();
    let mut left = MOST_LOOKED_AT;
    for mount in &hierarchies.mounted {
        let mut waiting = vec![mount.root.clone()];
        while let (Some(folder), Some(fewer)) = (waiting.pop(), left.checked_sub(1)) {
            left = fewer;
            let own = folder.file_name().and_then(|own| own.to_str()).unwrap_or_default();
            if let (true, Ok(path)) = (own.contains(wanted), folder.strip_prefix(&mount.root))
                && !path.as_os_str().is_empty()
            {
                like.insert((own.len(), path.to_owned()));
            }
            waiting.extend(folders_in(&folder));
        }
    }
    like.into_iter().map(|(_, path)| path).take(MOST_TOLD).collect()
}

#[cfg(test)]
mod tests;
