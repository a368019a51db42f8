//! A lock between processes: two `cargo xtask` at once must not build the same folder.
//!
//! The lock is the kernel's (`flock`), so it ends with its process however that ends; the file
//! stays and says who holds it, for the message that the one who waits prints.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, SeekFrom, Write},
    path::Path,
    process,
};

use anyhow::{Context, Result};

use crate::ui;

/// Held as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock at `path`, waiting for whoever has it and saying so; `purpose` is what the
    /// next one who waits will read.
    pub(crate) fn acquire(path: &Path, purpose: &str) -> Result<Self> {
        let cannot = || format!("cannot lock {}", path.display());
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)
            .with_context(cannot)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                ui::detail(&format!("waiting for {}", holder(&mut file)));
                file.lock().with_context(cannot)?;
            }
            Err(TryLockError::Error(error)) => return Err(error).with_context(cannot),
        }
        file.set_len(0).with_context(cannot)?;
        file.seek(SeekFrom::Start(0)).with_context(cannot)?;
        write!(file, "process {} ({purpose})", process::id()).with_context(cannot)?;
        Ok(Self { file })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Nobody holds it now; should this fail, the next holder overwrites the text anyway.
        let _ = self.file.set_len(0);
    }
}

/// Who wrote the lock file.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    match file.read_to_string(&mut text) {
        Ok(_) if !text.trim().is_empty() => text,
        _ => "another process".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    #[test]
    fn second_holder_waits_for_the_first() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let path = dir.path().join("lock");
        let first = Lock::acquire(&path, "first").expect("free lock");
        let (sender, receiver) = mpsc::channel();
        let waiter = {
            let path = path.clone();
            let sender = sender.clone();
            thread::spawn(move || {
                let _second = Lock::acquire(&path, "second").expect("lock after waiting");
                sender.send("second").expect("test thread listens");
            })
        };
        // Ordered by the lock alone: "first" is sent while it is held.
        sender.send("first").expect("test thread listens");
        drop(first);
        waiter.join().expect("waiter ends well");
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["first", "second"]);
    }

    #[test]
    fn lock_file_names_its_holder_only_while_held() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let path = dir.path().join("lock");
        let lock = Lock::acquire(&path, "making a .NET").expect("free lock");
        let text = std::fs::read_to_string(&path).expect("lock file");
        assert_eq!(text, format!("process {} (making a .NET)", process::id()));
        drop(lock);
        assert_eq!(std::fs::read_to_string(&path).expect("lock file"), "");
    }
}
