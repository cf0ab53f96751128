//! A [`TopTable`] as plain text for a terminal: numbers flush right, names cut to the width.

use crate::fit::{columns, fit};
use crate::quantity::{percent, thousands};
use crate::svg::xml::visible;
use crate::top_table::{TopRow, TopTable};
use crate::{Error, FrameKind};
use model::CodeKind;
use std::io;

/// What a table is sorted by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TopOrder {
    /// What functions took by themselves.
    #[default]
    Own,
    /// What functions took with all that they call.
    Total,
}

/// How a table is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TopTextOptions {
    /// What comes first.
    pub order: TopOrder,
    /// The most rows that are written.
    pub rows: usize,
    /// The terminal's width in columns. Numbers are never cut, so that a very narrow terminal
    /// gets longer lines.
    pub width: usize,
}

impl Default for TopTextOptions {
    fn default() -> Self {
        Self { order: TopOrder::Own, rows: 10, width: 100 }
    }
}

/// The least columns that a name gets, however narrow the terminal is.
const LEAST_NAME: usize = 16;
/// The most columns that a module gets while names are cut.
const MOST_MODULE: usize = 24;
const GAP: &str = "  ";

/// Writes the first rows of a table, each line with its line feed. Without rows one line says
/// so.
pub fn write_top_table(table: &TopTable, options: TopTextOptions, out: &mut dyn io::Write) -> Result<(), Error> {
    out.write_all(text(table, options).as_bytes()).map_err(Error::write("the table of functions"))
}

fn text(table: &TopTable, options: TopTextOptions) -> String {
    let rows = match options.order {
        TopOrder::Own => table.by_own(options.rows),
        TopOrder::Total => table.by_total(options.rows),
    };
    if rows.is_empty() {
        return "no samples\n".into();
    }
    let numbers = numbers(table, &rows, options.order);
    let number_widths: Vec<usize> = (0..numbers[0].len())
        .map(|column| numbers.iter().map(|row| columns(&row[column])).max().unwrap_or(0))
        .collect();
    let used: usize = number_widths.iter().map(|width| width + GAP.len()).sum();
    let names: Vec<[String; 2]> =
        std::iter::once(["function".into(), "module".into()]).chain(rows.iter().map(|row| words(row))).collect();
    let longest = |column: usize| names.iter().map(|row| columns(&row[column])).max().unwrap_or(0);
    let has_modules = rows.iter().any(|row| !words(row)[1].is_empty());
    let room = options.width.saturating_sub(used).max(LEAST_NAME);
    let module = if has_modules { longest(1).min(MOST_MODULE).min(room / 3) } else { 0 };
    let gap = if has_modules { GAP.len() } else { 0 };
    let name = longest(0).min(room.saturating_sub(module + gap).max(LEAST_NAME));
    let mut text = String::new();
    for (numbers, [function, file]) in numbers.iter().zip(&names) {
        let mut line = String::new();
        for (number, width) in numbers.iter().zip(&number_widths) {
            line.extend(std::iter::repeat_n(' ', width - columns(number)));
            line.push_str(number);
            line.push_str(GAP);
        }
        let function = fit(function, name);
        line.push_str(&function);
        if has_modules {
            line.extend(std::iter::repeat_n(' ', name.saturating_sub(columns(&function)) + gap));
            line.push_str(&fit(file, module));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The columns of numbers, the header first. What sorts comes first, and it is what the weight
/// and the samples are of.
fn numbers(table: &TopTable, rows: &[&TopRow], order: TopOrder) -> Vec<Vec<String>> {
    let (first, second) = match order {
        TopOrder::Own => ("self", "total"),
        TopOrder::Total => ("total", "self"),
    };
    let sums = |row: &TopRow| match order {
        TopOrder::Own => (row.own, row.total),
        TopOrder::Total => (row.total, row.own),
    };
    let largest = rows.iter().map(|row| sums(row).0.weight).max().unwrap_or(0);
    let column = table.measure.column(largest);
    // Plain counts need no column of weights beside that of samples.
    let counts_only = rows.iter().all(|row| table.measure.is_count(sums(row).0.weight, sums(row).0.count));
    let header = [first.into(), second.into(), format!("{first} [{}]", column.label), "samples".into()];
    let cells = rows.iter().map(|row| {
        let (sorts, other) = sums(row);
        let share = |weight| percent(weight, table.total.weight);
        [share(sorts.weight), share(other.weight), column.text(sorts.weight), thousands(sorts.count)]
    });
    let lines = std::iter::once(header).chain(cells);
    lines
        .map(
            |[sorts, other, weight, count]| {
                if counts_only { vec![sorts, other, count] } else { vec![sorts, other, weight, count] }
            },
        )
        .collect()
}

/// A row's function and module. A name out of a file could otherwise steer the terminal.
fn words(row: &TopRow) -> [String; 2] {
    let module = match (&row.module, row.kind) {
        (Some(module), _) => visible(module).into_owned(),
        (None, FrameKind::Code(CodeKind::Kernel)) => "[kernel]".into(),
        (None, _) => String::new(),
    };
    [visible(&row.name).into_owned(), module]
}
