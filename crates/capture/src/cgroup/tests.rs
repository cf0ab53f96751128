use super::*;

/// Folders that look like two hierarchies, of which the second has the controller.
struct Machine {
    folder: tempfile::TempDir,
    hierarchies: Hierarchies,
}

fn machine(cgroups: &[(&str, &str)]) -> Machine {
    let folder = tempfile::tempdir().unwrap();
    let roots = ["v2", "v1"].map(|root| folder.path().join(root));
    for (path, processes) in cgroups.iter().chain(&[("v1", ""), ("v2", "")]) {
        fs::create_dir_all(folder.path().join(path)).unwrap();
        fs::write(folder.path().join(path).join("cgroup.procs"), processes).unwrap();
    }
    let [v2, v1] = roots;
    let mounted = vec![Hierarchy { root: v2, version: Version::V2 }, Hierarchy { root: v1, version: Version::V1 }];
    Machine { folder, hierarchies: Hierarchies { mounted, controller: Controller::In(1) } }
}

impl Machine {
    fn find(&self, names: &[&str]) -> Result<Cgroups, Error> {
        let names: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        find_in(&self.hierarchies, &names)
    }

    fn counted(&self, names: &[&str]) -> usize {
        match self.find(names) {
            Ok(Cgroups::Counted(folders)) => folders.len(),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_name_may_be_a_path_below_the_root_or_of_the_folder() {
    let machine = machine(&[("v1/a", ""), ("v1/a/b", "")]);
    let path = machine.folder.path().join("v1/a");
    for name in ["a", "/a", "a/", "./a", path.to_str().unwrap(), "/", "a/b"] {
        assert_eq!(machine.counted(&[name]), 1, "{name}");
    }
}

#[test]
fn a_cgroup_within_another_is_counted_once() {
    let machine = machine(&[("v1/a", ""), ("v1/a/b", ""), ("v1/ab", "")]);
    assert_eq!(machine.counted(&["a/b", "a", "a"]), 1);
    assert_eq!(machine.counted(&["ab", "a"]), 2);
    assert_eq!(machine.counted(&["ab", "a", "/"]), 1);
}

#[test]
fn what_only_the_other_hierarchy_has_is_listed() {
    let machine = machine(&[("v2/x", "12\n0\n"), ("v2/x/y", "13\n12\n"), ("v2/empty", ""), ("v1/a", "14\n")]);
    let Ok(Cgroups::Listed { pids, remark }) = machine.find(&["x"]) else { panic!() };
    assert_eq!(pids, [12, 13].map(Pid));
    assert!(remark.contains("v2/x`") && remark.contains("v1`") && remark.contains("later"), "{remark}");
    // One that could be counted goes along with it.
    let Ok(Cgroups::Listed { pids, .. }) = machine.find(&["x", "a"]) else { panic!() };
    assert_eq!(pids.len(), 3);
    let empty = machine.find(&["empty"]).unwrap_err().to_string();
    assert!(empty.contains("no process is in it"), "{empty}");
}

#[test]
fn a_name_that_is_not_there_brings_those_like_it() {
    let machine = machine(&[("v2/system.slice/ssh.service", ""), ("v1/other", "")]);
    let text = |name| machine.find(&[name]).unwrap_err().to_string();
    assert!(text("ssh.service").contains("there is `system.slice/ssh.service`"), "{}", text("ssh.service"));
    assert!(text("user.slice/ssh").contains("`system.slice/ssh.service`"));
    assert!(text("nothing").contains("/v1` or `"), "{}", text("nothing"));
    assert!(text("other/../other").contains("none of this name"));
    let bare = Hierarchies { mounted: Vec::new(), controller: Controller::NotMounted(Version::V2) };
    assert!(find_in(&bare, &["x".into()]).unwrap_err().to_string().contains("mount -t cgroup2"));
}
