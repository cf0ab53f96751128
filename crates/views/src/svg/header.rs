//! What stands above the boxes: title, subtitle, legend, and the line that the script fills
//! with details. It is laid out first, since its height decides where the boxes begin.

use super::xml::Xml;
use super::{FlameGraphOptions, MARGIN};
use crate::fit::{columns, fit, wrap};
use crate::palette::Color;
use crate::tree_frame::FrameClass;
use std::io;

/// Widths of a column of text in pixels, by estimate: the face is proportional and unknown.
const TITLE_COLUMN: f64 = 11.6;
const SUBTITLE_COLUMN: f64 = 6.7;
const LEGEND_COLUMN: f64 = 6.6;
/// What the script's search field and buttons take at the right end of the title's row.
const TOOLS: f64 = 370.0;
const TITLE_BASELINE: u32 = 31;
const SUBTITLE_PITCH: u32 = 17;
const ROW: u32 = 22;

/// The header of a picture.
pub(super) struct Header {
    title: String,
    subtitle: Vec<String>,
    legend: Vec<(FrameClass, Color)>,
}

impl Header {
    pub(super) fn new(options: &FlameGraphOptions, classes: &[FrameClass]) -> Self {
        let inner = f64::from(options.width) - 2.0 * MARGIN;
        let title_columns = ((inner - TOOLS).max(inner / 2.0) / TITLE_COLUMN) as usize;
        let subtitle_columns = (inner / SUBTITLE_COLUMN) as usize;
        // One kind of code alone needs no explanation.
        let legend = if classes.iter().filter(|class| **class != FrameClass::Task).count() > 1 { classes } else { &[] };
        Self {
            title: fit(&options.title, title_columns).into_owned(),
            subtitle: options.subtitle.iter().flat_map(|line| wrap(line, subtitle_columns)).collect(),
            legend: legend.iter().map(|&class| (class, options.palette.legend_color(class))).collect(),
        }
    }

    fn legend_baseline(&self) -> u32 {
        TITLE_BASELINE + SUBTITLE_PITCH * self.subtitle.len() as u32 + if self.subtitle.is_empty() { 24 } else { 25 }
    }

    fn details_baseline(&self) -> u32 {
        self.legend_baseline() + if self.legend.is_empty() { 0 } else { ROW }
    }

    /// The pixels that the header takes at the top of the picture.
    pub(super) fn height(&self) -> u32 {
        self.details_baseline() + 11
    }

    pub(super) fn write(&self, width: u32, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, r#"<g class="head">"#)?;
        writeln!(out, r##"<rect class="page" width="{width}" height="{}" fill="#ffffff"/>"##, self.height())?;
        writeln!(out, r#"<text class="title" x="{MARGIN}" y="{TITLE_BASELINE}">{}</text>"#, Xml(&self.title))?;
        for (line, text) in (1..).zip(&self.subtitle) {
            let y = TITLE_BASELINE + 3 + line * SUBTITLE_PITCH;
            writeln!(out, r#"<text class="subtitle" x="{MARGIN}" y="{y}">{}</text>"#, Xml(text))?;
        }
        let mut x = MARGIN;
        let y = self.legend_baseline();
        for (class, color) in &self.legend {
            writeln!(
                out,
                r#"<rect class="swatch" x="{x}" y="{}" width="11" height="11" rx="2" fill="{color}"/>"#,
                y - 10
            )?;
            writeln!(out, r#"<text class="legend" x="{}" y="{y}">{}</text>"#, x + 16.0, class.label())?;
            x += (16.0 + columns(class.label()) as f64 * LEGEND_COLUMN + 18.0).round();
        }
        writeln!(out, r#"<text class="details" x="{MARGIN}" y="{}"></text>"#, self.details_baseline())?;
        writeln!(
            out,
            r#"<text class="matched" x="{}" y="{}" text-anchor="end"></text>"#,
            f64::from(width) - MARGIN,
            self.details_baseline()
        )?;
        writeln!(out, "</g>")
    }
}
