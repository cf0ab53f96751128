//! The functions that took most, as data and as text.

use crate::golden;
use crate::samples::{Build, event, server};
use model::{NameMissing, StackEnd};
use views::{TopOrder, TopTable, TopTextOptions, write_top_table};

fn text(table: &TopTable, options: TopTextOptions) -> String {
    let mut out = Vec::new();
    write_top_table(table, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_function_that_recurs_counts_once_for_its_total() {
    let mut build = Build::plain();
    build.line("main;fib;fib;fib", 3, 3).line("main;fib;g;fib", 2, 2).line("main;g", 1, 1);
    let table = TopTable::new(&build.profile, event());
    let rows: Vec<_> = table.by_total(9).iter().map(|row| (&*row.name, row.own.weight, row.total.weight)).collect();
    assert_eq!(rows, [("main", 0, 6), ("fib", 5, 5), ("g", 1, 3)]);
    let rows: Vec<_> = table.by_own(9).iter().map(|row| &*row.name).collect();
    assert_eq!(rows, ["fib", "g"]);
}

#[test]
fn inlined_or_not_a_function_is_one_row_and_a_name_in_two_files_is_two() {
    let mut build = Build::cpu_clock();
    let inlined = build.in_file("/bin/app", 0x10, Ok(&["f", "main"]));
    let plain = build.in_file("/bin/app", 0x20, Ok(&["f"]));
    let other = build.in_file("/lib/libx.so", 0x20, Ok(&["f"]));
    let nameless = build.in_file("/lib/libx.so", 0x30, Err(NameMissing::Stripped));
    for location in [inlined, plain, other, nameless] {
        build.push(None, StackEnd::Bottom, &[location], 10, 1);
    }
    let table = TopTable::new(&build.profile, event());
    let rows: Vec<_> =
        table.by_own(9).iter().map(|row| (&*row.name, row.module.as_deref().unwrap(), row.own.weight)).collect();
    assert_eq!(rows, [("f", "app", 20), ("[libx.so]", "libx.so", 10), ("f", "libx.so", 10)]);
}

#[test]
fn tables_for_the_terminal() {
    let table = TopTable::new(&server(), event());
    let own = text(&table, TopTextOptions::default());
    let total = text(&table, TopTextOptions { order: TopOrder::Total, width: 60, ..TopTextOptions::default() });
    golden::compare("top_own.txt", &own);
    golden::compare("top_total_60_columns.txt", &total);
    assert!(own.lines().all(|line| line.chars().count() <= 100));
    assert!(total.lines().all(|line| line.chars().count() <= 60));
    assert_eq!(own.lines().count(), 11);
}

#[test]
fn plain_counts_have_no_column_twice() {
    let mut build = Build::plain();
    build.line("main;a\x1b[31m", 1234, 1234).line("main;b", 7, 7);
    let table = TopTable::new(&build.profile, event());
    assert_eq!(
        text(&table, TopTextOptions::default()),
        "   self    total  samples  function\n99.44 %  99.44 %    1,234  a\\x1b[31m\n 0.56 %   0.56 %        7  b\n"
    );
}

#[test]
fn no_rows_are_a_sentence() {
    let table = TopTable::new(&Build::plain().profile, event());
    assert_eq!(text(&table, TopTextOptions::default()), "no samples\n");
    assert!(table.by_own(0).is_empty());
}
