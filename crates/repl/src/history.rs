//! Lines of earlier sessions, in the user's state folder.
//!
//! Only its owner can read it. Each line is added as it is typed, so that several sessions at once lose none; a file
//! that has grown too long is cut when it is opened. Without a place to keep it there is no history, and no complaint.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

/// A file larger than this is not ours.
const MAX_BYTES: u64 = 4 << 20;

/// Where lines are kept.
#[derive(Debug)]
pub(crate) struct History {
    file: Option<PathBuf>,
    lines: Vec<String>,
}

impl History {
    /// Reads at most `max` lines of earlier sessions.
    pub(crate) fn open(max: usize) -> Self {
        let file = folder().map(|folder| folder.join("history"));
        let text = file.as_ref().and_then(|file| {
            let size = fs::metadata(file).ok()?;
            (size.is_file() && size.len() <= MAX_BYTES).then(|| fs::read_to_string(file).ok())?
        });
        let text = text.unwrap_or_default();
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        let history = |lines| Self { file, lines };
        if lines.len() <= 2 * max {
            lines.drain(..lines.len().saturating_sub(max));
            return history(lines);
        }
        lines.drain(..lines.len() - max);
        let history = history(lines);
        history.rewrite();
        history
    }

    /// The lines, oldest first.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }

    /// Adds a line.
    pub(crate) fn add(&self, line: &str) {
        let Some(file) = &self.file else { return };
        let line = format!("{}\n", line.replace('\n', " "));
        let folder = file.parent().map(|folder| {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
        });
        let mut options = OpenOptions::new();
        options.create(true).append(true).mode(0o600);
        let written = folder
            .unwrap_or(Ok(()))
            .and_then(|()| options.open(file))
            .and_then(|mut file| file.write_all(line.as_bytes()));
        if let Err(error) = written {
            tracing::debug!(%error, "the history cannot be kept");
        }
    }

    /// Writes what is left of a file that was too long.
    fn rewrite(&self) {
        let Some(file) = &self.file else { return };
        let whole = self.lines.join("\n") + "\n";
        let short = file.with_extension("new");
        let mut options = OpenOptions::new();
        options.create(true).truncate(true).write(true).mode(0o600);
        let written = options
            .open(&short)
            .and_then(|mut file| file.write_all(whole.as_bytes()))
            .and_then(|()| fs::rename(&short, file));
        if let Err(error) = written {
            tracing::debug!(%error, "the history cannot be cut");
        }
    }
}

/// `$XDG_STATE_HOME/ndbg`, else `~/.local/state/ndbg`.
fn folder() -> Option<PathBuf> {
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.and_then(absolute).or_else(|| {
        let home = env::var_os("HOME").map(PathBuf::from).and_then(absolute)?;
        Some(home.join(".local/state"))
    });
    Some(state?.join("ndbg"))
}
