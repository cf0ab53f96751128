//! Where boxes lie.

use crate::samples::{Build, event};
use views::{CallTree, CallTreeOptions, FlameLayout};

fn layout(build: &Build, min_width: u128) -> (CallTree, FlameLayout) {
    let tree = CallTree::new(&build.profile, event(), CallTreeOptions::default());
    let layout = FlameLayout::new(&tree, min_width);
    (tree, layout)
}

fn rects(tree: &CallTree, layout: &FlameLayout) -> Vec<(String, u32, u128, u128)> {
    layout
        .rects
        .iter()
        .map(|rect| (tree.frame(rect.node).name.to_string(), rect.depth, rect.start, rect.width))
        .collect()
}

fn row(name: &str, depth: u32, start: u128, width: u128) -> (String, u32, u128, u128) {
    (name.into(), depth, start, width)
}

#[test]
fn boxes_lie_side_by_side_above_their_callers() {
    let mut build = Build::plain();
    build.line("a;x", 5, 5).line("a;y;z", 3, 3).line("a", 2, 2).line("b", 10, 10);
    let (tree, layout) = layout(&build, 0);
    assert_eq!(
        rects(&tree, &layout),
        [
            row("all", 0, 0, 20),
            row("a", 1, 0, 10),
            row("x", 2, 0, 5),
            row("y", 2, 5, 3),
            row("z", 3, 5, 3),
            row("b", 1, 10, 10)
        ]
    );
    assert_eq!((layout.total, layout.rows, layout.pruned), (20, 4, 0));
}

#[test]
fn narrow_boxes_are_left_out_with_all_above_them_and_keep_their_place_free() {
    let mut build = Build::plain();
    build.line("a;x", 5, 5).line("a;y;z", 3, 3).line("b", 10, 10).line("a;zero", 0, 1);
    let (tree, layout) = layout(&build, 4);
    assert_eq!(rects(&tree, &layout), [row("all", 0, 0, 18), row("a", 1, 0, 8), row("x", 2, 0, 5), row("b", 1, 8, 10)]);
    assert_eq!((layout.rows, layout.pruned), (3, 3));
}

#[test]
fn offsets_beyond_64_bits_are_exact() {
    let mut build = Build::plain();
    build.line("a", u64::MAX, 1).line("b", u64::MAX, 1).line("c", 1, 1);
    let (tree, layout) = layout(&build, 0);
    assert_eq!(rects(&tree, &layout)[3], row("c", 1, 2 * u128::from(u64::MAX), 1));
}
