//! A recording as pprof, as Go's own tool reads it: the same functions with the same weights as the
//! folded text of the recording has.

use crate::flamel;
use crate::recordings::both;
use std::collections::BTreeMap;
use testkit::{Folded, Run, Variant, requires, workload};

#[test]
fn root_pprof_sees_the_functions_of_a_recording() {
    if !requires::root() || !requires::go() {
        return;
    }
    let program = workload::SHARES.build(Variant::without_frame_pointers());
    let run = both(&["-F", "1999", "-e", "cpu-clock"], &[program.to_str().unwrap(), "0.7"]);
    let folder = tempfile::tempdir().unwrap();
    let pprof = folder.path().join("x.pb.gz");
    flamel().arg("convert").arg(run.data()).arg("-o").arg(&pprof).finish().success();
    let go = Run::new(requires::find("go").unwrap()).env("HOME", folder.path());
    let tops = go.args(["tool", "pprof", "-top", "-nodefraction=0", "-nodecount=100000", "-unit=ns"]).arg(&pprof);
    let text = tops.finish().success().stdout_text();
    let folded = Folded::parse(&String::from_utf8(run.live).unwrap());
    assert!(text.contains(&format!("of {}ns total", folded.total())), "{} ns\n{text}", folded.total());
    let mut own: BTreeMap<String, u64> = BTreeMap::new();
    for stack in &folded.stacks {
        *own.entry(stack.leaf().to_owned()).or_default() += stack.weight;
    }
    let by_pprof: BTreeMap<String, u64> = text.lines().filter_map(own_weight).collect();
    assert!(own["leaf_60"] > 0);
    assert_eq!(by_pprof, own, "{text}");
}

/// A row `500250ns 1.23% 4.56% 500250ns 1.23%  NAME`, if the function has a weight of its own.
fn own_weight(line: &str) -> Option<(String, u64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [flat, share, _, _, _, name @ ..] = &words[..] else { return None };
    let weight = flat.strip_suffix("ns")?.parse().ok().filter(|weight| *weight > 0 && share.ends_with('%'))?;
    Some((name.join(" ").trim_end_matches(" (inline)").to_owned(), weight))
}
