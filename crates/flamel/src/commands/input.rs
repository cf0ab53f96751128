//! Reads a profile from a file or from standard input.

use crate::failure::Failure;
use anyhow::{Context as _, anyhow};
use model::Profile;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

/// The profile in `path`, or in standard input for `-`. What the reader left out is told.
pub fn read(path: &Path) -> Result<Profile, Failure> {
    let (name, bytes) = if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().read_to_end(&mut bytes);
        ("standard input".to_owned(), read.map(|_| bytes))
    } else {
        (format!("`{}`", path.display()), fs::read(path))
    };
    let bytes = bytes.with_context(|| format!("read {name}")).map_err(Failure::usage)?;
    if bytes.is_empty() {
        return Err(Failure::usage(anyhow!("read {name}: it is empty")));
    }
    let decoded = formats::decode(&bytes).with_context(|| format!("read {name}")).map_err(Failure::usage)?;
    decoded.notes.iter().for_each(|note| super::summary::warn(&format!("{name}: {note}")));
    Ok(decoded.profile)
}
