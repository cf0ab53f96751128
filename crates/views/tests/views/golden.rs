//! Comparison with files under tests/golden.

use std::path::PathBuf;

pub(crate) fn compare(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("REWRITE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("`{}`: {error}; REWRITE_GOLDEN=1 writes it", path.display()));
    if expected == text {
        return;
    }
    let differs = expected.lines().zip(text.lines()).position(|(old, new)| old != new);
    let line = differs.unwrap_or_else(|| expected.lines().count().min(text.lines().count()));
    panic!(
        "`{}` line {}:\n  was {:?}\n  is  {:?}\nREWRITE_GOLDEN=1 accepts it",
        path.display(),
        line + 1,
        expected.lines().nth(line),
        text.lines().nth(line),
    );
}
