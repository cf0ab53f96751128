//! A flame graph as one SVG file that needs nothing else: style and script lie inside. Without
//! the script it is a plain picture with a tooltip on every box; with it, boxes can be zoomed
//! and searched. The script gets the samples' own integers (`data-at`), so that what it
//! computes is exact.

mod header;
pub(crate) mod xml;

use crate::call_tree::CallTree;
use crate::fit::fit;
use crate::flame_layout::{FlameLayout, FlameRect};
use crate::quantity::{percent, thousands};
use crate::tree_frame::FrameClass;
use crate::{Error, ErrorKind, Palette};
use header::Header;
use std::io::{self, Write as _};
use xml::{Xml, visible};

const STYLE: &str = include_str!("../assets/flamegraph.css");
const SCRIPT: &str = include_str!("../assets/flamegraph.js");

/// Pixels left free at both sides and at the bottom.
const MARGIN: f64 = 14.0;
/// The distance between rows, and the height of a box.
const ROW_PITCH: u32 = 18;
const BOX_HEIGHT: u32 = 17;
const TEXT_BASELINE: f64 = 12.5;
/// The width of a column at 12 pixels: 0.6 of the size in DejaVu Sans Mono, Menlo, Courier.
const COLUMN: f64 = 7.23;
/// What a box's text leaves free, both sides together.
const TEXT_PADDING: f64 = 7.0;
/// No name is shown in fewer columns: two letters and the mark of the cut.
const LEAST_COLUMNS: usize = 4;
const WIDTHS: std::ops::RangeInclusive<u32> = 320..=65_536;

/// At which side of the picture the root lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RootSide {
    /// At the bottom: flames.
    #[default]
    Bottom,
    /// At the top: icicles.
    Top,
}

/// What a flame graph looks like.
#[derive(Clone, PartialEq, Debug)]
pub struct FlameGraphOptions {
    /// The line above the picture, and the document's title.
    pub title: String,
    /// Lines below the title: the event, the samples, what is missing.
    pub subtitle: Vec<String>,
    /// A text that is kept in the file but not shown, in its `desc` element.
    pub notes: String,
    /// The picture's width in pixels, from 320 to 65,536.
    pub width: u32,
    /// Boxes narrower than so many pixels are left out.
    pub min_width: f64,
    /// Where the root lies.
    pub root: RootSide,
    /// The colours.
    pub palette: Palette,
}

impl Default for FlameGraphOptions {
    fn default() -> Self {
        Self {
            title: "Flame graph".into(),
            subtitle: Vec::new(),
            notes: String::new(),
            width: 1200,
            min_width: 0.1,
            root: RootSide::Bottom,
            palette: Palette::default(),
        }
    }
}

/// Writes a call tree as SVG.
///
/// # Errors
/// [`ErrorKind::Empty`] where the tree has no weight, [`ErrorKind::BadOption`] for a width out of
/// range, [`ErrorKind::Write`] where the writer fails. Only the last can leave something written.
pub fn flame_graph_svg(tree: &CallTree, options: &FlameGraphOptions, out: &mut dyn io::Write) -> Result<(), Error> {
    let picture = Picture::new(tree, options)?;
    let mut out = io::BufWriter::new(out);
    picture.write(&mut out).and_then(|()| out.flush()).map_err(Error::write("the flame graph"))
}

struct Picture<'a> {
    tree: &'a CallTree,
    options: &'a FlameGraphOptions,
    layout: FlameLayout,
    header: Header,
    /// Pixels a unit of weight.
    scale: f64,
}

impl<'a> Picture<'a> {
    fn new(tree: &'a CallTree, options: &'a FlameGraphOptions) -> Result<Self, Error> {
        let total = tree.total().weight;
        if total == 0 {
            let context = match tree.is_empty() {
                true => "there are no samples to draw",
                false => "all samples have the weight 0: there is nothing to draw",
            };
            return Err(Error::new(ErrorKind::Empty, context));
        }
        if !WIDTHS.contains(&options.width) {
            let context =
                format!("a width of {} pixels is not between {} and {}", options.width, WIDTHS.start(), WIDTHS.end());
            return Err(Error::new(ErrorKind::BadOption, context));
        }
        if !(options.min_width >= 0.0 && options.min_width.is_finite()) {
            let context = format!("a least width of {} pixels is no width", options.min_width);
            return Err(Error::new(ErrorKind::BadOption, context));
        }
        let inner = f64::from(options.width) - 2.0 * MARGIN;
        // The root is drawn however wide the least width is.
        let min_width = ((options.min_width / inner * total as f64).ceil() as u128).min(total);
        let layout = FlameLayout::new(tree, min_width);
        let header = Header::new(options, &classes(tree, &layout));
        Ok(Self { tree, options, layout, header, scale: inner / total as f64 })
    }

    fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let width = self.options.width;
        let height = self.header.height() + self.layout.rows * ROW_PITCH + MARGIN as u32;
        writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
        write!(
            out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="flamel" width="{width}" height="{height}" viewBox="0 0 {width} {height}""#
        )?;
        writeln!(
            out,
            r#" data-margin="{MARGIN}" data-column="{COLUMN}" data-padding="{TEXT_PADDING}" data-pruned="{}" data-root="{}">"#,
            self.layout.pruned,
            match self.options.root {
                RootSide::Bottom => "bottom",
                RootSide::Top => "top",
            }
        )?;
        writeln!(out, "<title>{}</title>", Xml(&self.options.title))?;
        if !self.options.notes.is_empty() {
            writeln!(out, "<desc>{}</desc>", Xml(&self.options.notes))?;
        }
        writeln!(out, "<style><![CDATA[\n{}]]></style>", STYLE)?;
        writeln!(out, r##"<rect class="page" width="{width}" height="{height}" fill="#ffffff"/>"##)?;
        writeln!(out, r#"<g class="frames">"#)?;
        for rect in &self.layout.rects {
            self.write_box(rect, out)?;
        }
        writeln!(out, "</g>")?;
        self.header.write(width, out)?;
        writeln!(out, "<script><![CDATA[\n{}]]></script>", SCRIPT)?;
        writeln!(out, "</svg>")
    }

    fn write_box(&self, rect: &FlameRect, out: &mut dyn io::Write) -> io::Result<()> {
        let frame = self.tree.frame(rect.node);
        let x = MARGIN + rect.start as f64 * self.scale;
        let width = rect.width as f64 * self.scale;
        let row = match self.options.root {
            RootSide::Bottom => self.layout.rows - 1 - rect.depth,
            RootSide::Top => rect.depth,
        };
        let y = self.header.height() + row * ROW_PITCH;
        let name = visible(&frame.name);
        write!(out, r#"<g data-at="{} {} {}"><title>{} ("#, rect.depth, rect.start, rect.width, Xml(&name))?;
        if let Some(words) = frame.kind_words() {
            write!(out, "{words}; ")?;
        }
        let total = self.tree.node(rect.node).total;
        let measure = self.tree.measure();
        write!(out, "{}; ", Xml(&measure.text(total.weight)))?;
        if !measure.is_count(total.weight, total.count) && measure.unit != model::Unit::Samples {
            write!(out, "{} {}; ", thousands(total.count), if total.count == 1 { "sample" } else { "samples" })?;
        }
        write!(out, "{})</title>", Xml(&percent(rect.width, self.layout.total)))?;
        let color = self.options.palette.color(frame);
        let drawn = Pixels(drawn_width(width));
        write!(out, r#"<rect x="{}" y="{y}" width="{drawn}" height="{BOX_HEIGHT}" fill="{color}"/>"#, Pixels(x))?;
        let columns = ((width - TEXT_PADDING).max(0.0) / COLUMN) as usize;
        let text = if columns < LEAST_COLUMNS { "".into() } else { fit(&name, columns) };
        if !text.is_empty() {
            let (x, y) = (Pixels(x + TEXT_PADDING / 2.0), f64::from(y) + TEXT_BASELINE);
            write!(out, r#"<text x="{x}" y="{y}">{}</text>"#, Xml(&text))?;
        }
        writeln!(out, "</g>")
    }
}

/// Boxes of a row are told apart by a gap where there is room for one.
fn drawn_width(width: f64) -> f64 {
    if width > 3.0 { width - 0.8 } else { width }
}

/// The classes of the boxes, in the order of a legend.
fn classes(tree: &CallTree, layout: &FlameLayout) -> Vec<FrameClass> {
    let mut present = [false; FrameClass::ALL.len()];
    // The root is of the threads' class, but where no thread is shown, none is explained.
    layout.rects.iter().skip(1).for_each(|rect| present[tree.frame(rect.node).class() as usize] = true);
    FrameClass::ALL.into_iter().filter(|class| present[*class as usize]).collect()
}

/// A length with two decimals at most.
struct Pixels(f64);

impl std::fmt::Display for Pixels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.2}", self.0);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}
