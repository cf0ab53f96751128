//! How stacks are merged into a tree.

use crate::samples::{Build, event, server};
use model::{CodeKind, EventDescription, NameMissing, StackEnd, Totals};
use std::io::Write as _;
use std::time::Instant;
use views::{CallTree, CallTreeOptions, FrameKind, NodeId, StackOrder, TaskFrames, TreeFrame};

const LEAF_FIRST: CallTreeOptions = CallTreeOptions { order: StackOrder::LeafFirst, tasks: TaskFrames::Shown };
const NO_TASKS: CallTreeOptions = CallTreeOptions { order: StackOrder::RootFirst, tasks: TaskFrames::Merged };

fn words(frame: &TreeFrame) -> String {
    let kind = match frame.kind {
        FrameKind::Root => "*",
        FrameKind::Task => "@",
        FrameKind::Code(CodeKind::Kernel) => "k:",
        FrameKind::Code(CodeKind::Jit) => "j:",
        FrameKind::Code(_) => "",
    };
    format!("{kind}{}{}", frame.name, if frame.inlined { "(i)" } else { "" })
}

/// A line a node: its indent is its depth.
fn outline(tree: &CallTree) -> Vec<String> {
    tree.nodes()
        .map(|(id, node)| {
            let indent = " ".repeat(node.depth as usize);
            format!("{indent}{} {}/{}", words(tree.frame(id)), node.own.weight, node.total.weight)
        })
        .collect()
}

fn tree(build: &Build, options: CallTreeOptions) -> CallTree {
    CallTree::new(&build.profile, event(), options)
}

#[test]
fn functions_merge_by_name_kind_and_inlining() {
    let mut build = Build::plain();
    build.line("main;b", 3, 3).line("main;a", 2, 2).line("main", 1, 1).line("main;a_[k]", 4, 4).line(
        "main;a_[i]",
        5,
        5,
    );
    let tree = tree(&build, CallTreeOptions::default());
    assert_eq!(outline(&tree), ["*all 0/15", " main 1/15", "  a 2/2", "  a(i) 5/5", "  k:a 4/4", "  b 3/3"]);
    assert_eq!(tree.total(), Totals { weight: 15, count: 15 });
    let children: Vec<_> = tree.children(NodeId::ROOT).map(|id| words(tree.frame(id))).collect();
    assert_eq!(children, ["main"]);
}

#[test]
fn addresses_do_not_split_a_function_and_inlined_ones_are_frames_of_their_own() {
    let mut build = Build::cpu_clock();
    let one = build.in_file("/bin/app", 0x10, Ok(&["inner", "middle", "outer"]));
    let two = build.in_file("/bin/app", 0x20, Ok(&["inner", "middle", "outer"]));
    let bare = build.in_file("/bin/app", 0x30, Ok(&["outer"]));
    for location in [one, two, bare] {
        build.push(None, StackEnd::Bottom, &[location], 10, 1);
    }
    assert_eq!(
        outline(&tree(&build, CallTreeOptions::default())),
        ["*all 0/30", " outer 10/30", "  middle(i) 0/20", "   inner(i) 20/20"]
    );
    assert_eq!(
        outline(&tree(&build, LEAF_FIRST)),
        ["*all 0/30", " inner(i) 0/20", "  middle(i) 0/20", "   outer 20/20", " outer 10/10"]
    );
}

#[test]
fn threads_of_one_name_are_one_frame_at_the_outer_end() {
    let mut build = Build::plain();
    let (one, two) = (build.task("worker", 1), build.task("worker", 2));
    let main = build.location("main");
    let f = build.location("f");
    for task in [Some(one), Some(two), None] {
        build.push(task, StackEnd::Bottom, &[main, f], 1, 1);
    }
    assert_eq!(
        outline(&tree(&build, CallTreeOptions::default())),
        ["*all 0/3", " main 0/1", "  f 1/1", " @worker 0/2", "  main 0/2", "   f 2/2"]
    );
    assert_eq!(outline(&tree(&build, NO_TASKS)), ["*all 0/3", " main 0/3", "  f 3/3"]);
    assert_eq!(outline(&tree(&build, LEAF_FIRST)), ["*all 0/3", " f 0/3", "  main 1/3", "   @worker 2/2"]);
}

#[test]
fn a_nameless_frame_shows_its_module() {
    let mut build = Build::plain();
    let nameless = build.in_file("/usr/lib/libfoo.so", 0x10, Err(NameMissing::Stripped));
    build.push(None, StackEnd::Bottom, &[nameless], 1, 1);
    build.push(None, StackEnd::Bottom, &[], 2, 2);
    assert_eq!(outline(&tree(&build, CallTreeOptions::default())), ["*all 0/3", " [libfoo.so] 1/1", " [no stack] 2/2"]);
}

#[test]
fn cut_stacks_are_weighed_and_get_no_frame() {
    let mut build = Build::plain();
    let f = build.location("f");
    for (weight, end) in (1..).zip(StackEnd::ALL) {
        build.push(None, *end, &[f], weight, 1);
    }
    let tree = tree(&build, CallTreeOptions::default());
    assert_eq!(outline(&tree), ["*all 0/55", " f 55/55"]);
    // All but Bottom, Unknown, NotRecorded, UserExcluded and NoUserStack, which weigh 1 to 5.
    assert_eq!(tree.cut(), Totals { weight: 40, count: 5 });
}

#[test]
fn a_profile_without_samples_has_a_root_only() {
    let mut build = Build::plain();
    build.line("main", 0, 0);
    let tree = tree(&build, CallTreeOptions::default());
    assert!(tree.is_empty());
    assert_eq!(tree.len(), 1);
}

#[test]
fn sums_beyond_64_bits_are_exact() {
    let mut build = Build::plain();
    build.line("a;x", u64::MAX, u64::MAX).line("a;y", u64::MAX, u64::MAX);
    let tree = tree(&build, CallTreeOptions::default());
    assert_eq!(tree.total().weight, 2 * u128::from(u64::MAX));
    assert_eq!(tree.total().count, u64::MAX);
}

#[test]
fn both_orders_sum_to_the_same() {
    let profile = server();
    let root_first = CallTree::new(&profile, event(), CallTreeOptions::default());
    let leaf_first = CallTree::new(&profile, event(), LEAF_FIRST);
    assert_eq!(root_first.total(), leaf_first.total());
    assert_eq!(root_first.total(), profile.totals(event()));
    for tree in [&root_first, &leaf_first] {
        for (id, node) in tree.nodes() {
            let mut sum = node.own;
            tree.children(id).for_each(|child| sum += tree.node(child).total);
            assert_eq!(sum, node.total);
        }
    }
}

#[test]
fn a_stack_of_100_000_frames_is_built_and_dropped() {
    for depth in [3_000, 100_000] {
        let mut build = Build::plain();
        let frames: Vec<_> = (0..depth).map(|n| build.location(&format!("f{}", n % 10))).collect();
        build.push(None, StackEnd::Bottom, &frames, 1, 1);
        for options in [CallTreeOptions::default(), LEAF_FIRST] {
            let tree = tree(&build, options);
            assert_eq!(tree.len(), depth + 1);
            assert_eq!(tree.nodes().last().unwrap().1.depth as usize, depth);
            drop(tree.clone());
        }
    }
}

/// Every depth of a recursion is a stack of its own: 100,000 stacks that share all they have.
#[test]
fn a_recursion_sampled_at_every_depth_takes_no_square_time() {
    let mut build = Build::plain();
    let f = build.location("f");
    let mut stack = model::StackTree::root(StackEnd::Bottom);
    let mut row = None;
    for _ in 0..100_000 {
        stack = build.profile.stacks.child(stack, f);
        let sample = row.get_or_insert(model::SampleRow {
            time: None,
            task: None,
            cpu: None,
            event: event(),
            stack,
            weight: 1,
            count: 1,
        });
        build.profile.samples.push(model::SampleRow { stack, ..*sample });
    }
    let tree = tree(&build, CallTreeOptions::default());
    assert_eq!(tree.len(), 100_001);
    let table = views::TopTable::new(&build.profile, event());
    assert_eq!((table.rows[0].own.count, table.rows[0].total.count), (100_000, 100_000));
}

/// A million samples of 100,000 stacks. How long that takes is told, not tested.
#[test]
fn a_million_samples_are_summed() {
    let mut build = Build::new(EventDescription::plain_samples());
    let tasks: Vec<_> = (0..30).map(|n| build.task(&format!("thread-{n}"), n)).collect();
    let names: Vec<_> = (0..5_000).map(|n| build.location(&format!("function_{n}"))).collect();
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let stacks: Vec<Vec<_>> = (0..100_000)
        .map(|_| {
            let shared = random(200);
            (0..12).map(|n| names[shared * 20 + n]).chain((0..8).map(|_| names[random(5_000)])).collect()
        })
        .collect();
    for n in 0..1_000_000 {
        let stack = n * 7_919 % stacks.len();
        build.push(Some(tasks[stack % tasks.len()]), StackEnd::Bottom, &stacks[stack], 1, 1);
    }
    let start = Instant::now();
    let tree = tree(&build, CallTreeOptions::default());
    let taken = start.elapsed();
    let _ = writeln!(std::io::stderr(), "call tree of {} nodes in {taken:?}", tree.len());
    assert_eq!(tree.total().count, 1_000_000);
}
