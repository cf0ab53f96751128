//! Shows a file in the desktop's viewer.

use super::summary;
use std::path::Path;
use std::process::{Command, Stdio};

/// Starts the viewer and does not wait for it. Under sudo(8) it is the caller's viewer.
pub fn in_viewer(path: &Path) {
    let mut command = match std::env::var_os("SUDO_USER") {
        Some(user) if rustix::process::geteuid().is_root() => {
            let mut command = Command::new("sudo");
            command.arg("-u").arg(user).arg("xdg-open");
            command
        }
        _ => Command::new("xdg-open"),
    };
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        summary::warn(&format!("open `{}` with xdg-open: {error}", path.display()));
    }
}
