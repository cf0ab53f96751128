//! What can be written: the views of [`VIEWS`], and what [`formats::FORMATS`] can write. Both are
//! lists, so that one more of either is one more line in its list.

use crate::commands::draw::{VIEWS, View};
use formats::Format;
use std::path::Path;

/// Something that a profile can be written as.
#[derive(Clone, Copy, Debug)]
pub enum OutputFormat {
    /// It is drawn.
    View(&'static View),
    /// It is encoded.
    Encoded(&'static Format),
    /// Its events are written as they come, with their addresses: a perf.data file.
    Recording,
}

impl OutputFormat {
    /// All that can be written, views first.
    pub fn all() -> impl Iterator<Item = Self> {
        let encoded = formats::FORMATS.iter().filter(|format| format.encode.is_some());
        VIEWS.iter().map(Self::View).chain(encoded.map(Self::Encoded)).chain([Self::Recording])
    }

    /// All that a profile, whose addresses have become names, can be written as.
    pub fn of_profiles() -> impl Iterator<Item = Self> {
        Self::all().filter(|format| !matches!(format, Self::Recording))
    }

    /// What the user calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::View(view) => view.name,
            Self::Encoded(format) => format.name,
            Self::Recording => "perf.data",
        }
    }

    /// What it is, in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            Self::View(view) => view.summary,
            Self::Encoded(format) => format.summary,
            Self::Recording => "a recording, for flamel and perf",
        }
    }

    /// The extensions of its files, the usual one first, without the first dot.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::View(view) => view.extensions,
            Self::Encoded(format) => format.extensions,
            Self::Recording => &["data"],
        }
    }

    /// The one that goes by this name or extension.
    pub fn find(name: &str) -> Option<Self> {
        Self::all().find(|format| format.name() == name || format.extensions().contains(&name))
    }

    /// The one that a file's name asks for, and the extension by which it does: the longest that
    /// fits, since `x.pb.gz` may end in two.
    pub fn of_file(path: &Path) -> Option<(Self, &'static str)> {
        let name = path.file_name()?.to_string_lossy();
        let fitting =
            Self::all().filter_map(|format| Some((format, formats::longest_extension(&name, format.extensions())?)));
        fitting.max_by_key(|(_, extension)| extension.len())
    }

    /// The names of all, for a message.
    pub fn names() -> String {
        Self::all().map(Self::name).collect::<Vec<_>>().join(", ")
    }

    /// The usual extensions of these, with their dots, for a message.
    pub fn usual_extensions(of: impl Iterator<Item = Self>) -> String {
        let usual = of.filter_map(|format| format.extensions().first());
        usual.map(|extension| format!(".{extension}")).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_extensions_are_unique_and_there_is_a_summary() {
        let all: Vec<OutputFormat> = OutputFormat::all().collect();
        for (index, format) in all.iter().enumerate() {
            assert!(!format.summary().is_empty() && !format.extensions().is_empty(), "{}", format.name());
            assert_eq!(OutputFormat::find(format.name()).unwrap().name(), format.name());
            for extension in format.extensions() {
                let (found, by) = OutputFormat::of_file(Path::new(&format!("x.{extension}"))).unwrap();
                assert_eq!((found.name(), by), (format.name(), *extension));
                for other in &all[index + 1..] {
                    assert_ne!(other.name(), *extension);
                    assert!(!other.extensions().contains(extension), "{extension}");
                }
            }
        }
    }

    #[test]
    fn the_longest_end_of_the_name_decides() {
        let name = |path: &str| OutputFormat::of_file(Path::new(path)).map(|(format, _)| format.name());
        assert_eq!(name("a/b.folded/x.PB.gz"), Some("pprof"));
        assert_eq!(name("x.svg"), Some("svg"));
        // Read, but never written.
        assert_eq!(name("x.perf"), None);
        assert_eq!(name("x.gz"), None);
        assert_eq!(name("svg"), None);
    }
}
