//! How a picture looks; shared by the verbs that draw.

use clap::Args;

/// How the picture looks
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Picture")]
pub struct PictureArgs {
    /// Title above the picture [default: what was profiled]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub title: Option<String>,
    /// Text that is kept in the picture's description
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub notes: Option<String>,
    /// Width in pixels
    #[arg(long, value_name = "PX", default_value_t = 1200, value_parser = clap::value_parser!(u32).range(320..=65_536))]
    pub width: u32,
    /// Leave out frames narrower than this many pixels
    #[arg(long, value_name = "PX", default_value_t = 0.1, value_parser = parse_pixels)]
    pub min_width: f64,
    /// Put the root on top
    #[arg(long)]
    pub icicle: bool,
    /// Colours: a palette's name
    #[arg(long, value_name = "PALETTE", default_value = "hot", value_parser = clap::builder::PossibleValuesParser::new(palettes()))]
    pub colors: String,
}

fn parse_pixels(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(pixels) if (0.0..=10_000.0).contains(&pixels) => Ok(pixels),
        _ => Err("must be a number of pixels from 0 to 10000".into()),
    }
}

fn palettes() -> impl Iterator<Item = clap::builder::PossibleValue> {
    views::PALETTES.iter().map(|palette| clap::builder::PossibleValue::new(palette.name).help(palette.summary))
}
