//! What holds of every format of the list.

use formats::{Decode, ErrorKind, FORMATS};
use std::path::PathBuf;

fn example(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/examples").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("every format has an example: `{}`: {error}", path.display()))
}

#[test]
fn names_and_extensions_are_unique_and_there_is_a_summary() {
    for (index, format) in FORMATS.iter().enumerate() {
        assert!(!format.summary.is_empty() && !format.summary.ends_with('.'), "{}", format.name);
        assert!(!format.extensions.is_empty(), "{}", format.name);
        for other in &FORMATS[index + 1..] {
            assert_ne!(format.name, other.name);
            assert!(format.extensions.iter().all(|extension| !other.extensions.contains(extension)));
        }
        for extension in format.extensions {
            let name = format!("x.{extension}").to_uppercase();
            assert_eq!(formats::longest_extension(&name, format.extensions), Some(*extension));
        }
    }
}

#[test]
fn every_format_recognises_its_own_example_and_no_other() {
    for format in FORMATS {
        for other in FORMATS {
            assert_eq!(
                (format.sniff)(&example(other.name)),
                format.name == other.name,
                "{} {}",
                format.name,
                other.name
            );
        }
        assert!(!(format.sniff)(b""), "{}", format.name);
        assert!(!(format.sniff)(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0"), "{}", format.name);
    }
}

#[test]
fn every_readable_example_is_read_and_what_is_written_reads_back() {
    for format in FORMATS {
        let bytes = example(format.name);
        match format.decode {
            Decode::NotYet { advice } => {
                let error = formats::decode(&bytes).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Unreadable);
                assert!(error.to_string().ends_with(advice), "{error}");
            }
            Decode::With(_) => {
                let profile = formats::decode(&bytes).unwrap().profile;
                let event = model::id::Id::from_index(0);
                assert!(profile.totals(event).weight > 0);
                if format.encode.is_none() {
                    continue;
                }
                let mut written = Vec::new();
                format.encode(&profile, event, &mut written).unwrap();
                let again = format.decode(&written).unwrap().profile;
                assert_eq!(again.totals(event), profile.totals(event), "{}", format.name);
            }
        }
    }
}

#[test]
fn a_format_that_is_not_written_says_so() {
    let profile = model::Profile::default();
    for format in FORMATS.iter().filter(|format| format.encode.is_none()) {
        let error = format.encode(&profile, model::id::Id::from_index(0), &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotWritten);
    }
}
