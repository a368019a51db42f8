//! Maps the code of the start while there is time for it, and gives back the pages of code, and of tables beside it, that
//! only the start has needed.
//!
//! Code that is run for the first time costs a fault for each piece of it. A launched program that starts leaves time for
//! having them all at once; later it would wait for each.
//!
//! The kernel maps the pages around each that is used, so that after a start nearly all code of a program and of its
//! libraries counts as its memory, and so do the tables of names that they were linked by. Given back, only what is used
//! from then on counts; the files stay in the system's cache.
//!
//! Invariant: only what is the file's own is given back: nothing that this process could have changed.

use std::collections::HashSet;

/// A mapping of a file, as `smaps` tells it.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    start: usize,
    length: usize,
}

/// Maps all code of this process: its own, and that of its libraries.
pub fn map_startup_code() {
    let Ok(text) = std::fs::read_to_string("/proc/self/maps") else {
        return;
    };
    for code in text.lines().filter_map(mapped_code) {
        // A kernel that cannot do that leaves it to whoever runs the code first.
        // SAFETY: the pages are those of the file, mapped now or when they are used.
        unsafe {
            libc::madvise(
                std::ptr::without_provenance_mut(code.start),
                code.length,
                libc::MADV_POPULATE_READ,
            );
        }
    }
}

/// The mapping that a line tells of, if it is of a file and holds code.
fn mapped_code(line: &str) -> Option<Part> {
    let mut words = line.split_ascii_whitespace();
    let range = range(words.next()?)?;
    let is_code = words.next() == Some("r-xp");
    let is_file = words.nth(3).is_some_and(|path| path.starts_with('/'));
    (is_code && is_file).then_some(range)
}

/// Gives back what this process has from files of code and cannot write to; what is used again is mapped again.
pub fn release_startup_code() {
    let Ok(text) = std::fs::read_to_string("/proc/self/smaps") else {
        return;
    };
    for part in unchanged_parts(&text) {
        // SAFETY: the range is a mapping of a file that is not writable and of which this process has no page of its own, so
        // its contents are those of the file before and after.
        unsafe {
            libc::madvise(
                std::ptr::without_provenance_mut(part.start),
                part.length,
                libc::MADV_DONTNEED,
            );
        }
    }
}

/// Mappings of files that hold code, or what belongs to it, and no page of our own. Other files are left alone: whoever has
/// them may be about to let them go, and something else would be in their place.
fn unchanged_parts(smaps: &str) -> Vec<Part> {
    let mut found: Vec<(&str, &str, Part)> = Vec::new();
    let mut current = None;
    for line in smaps.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(first) = words.next() else { continue };
        if let Some(name) = first.strip_suffix(':') {
            let is_own = name == "Anonymous" || name == "Private_Dirty";
            if is_own && words.next() != Some("0") {
                current = None;
            } else if name == "VmFlags" {
                found.extend(current.take());
            }
            continue;
        }
        let rights = words.next().unwrap_or_default();
        let file = line.find('/').and_then(|at| line.get(at..));
        let is_only_read = matches!(rights, "r-xp" | "r--p");
        current = file
            .filter(|_| is_only_read)
            .and_then(|file| Some((file, rights, range(first)?)));
    }
    let code: HashSet<&str> = found
        .iter()
        .filter(|(_, rights, _)| *rights == "r-xp")
        .map(|(file, ..)| *file)
        .collect();
    found.retain(|(file, ..)| code.contains(file));
    found.into_iter().map(|(.., part)| part).collect()
}

fn range(text: &str) -> Option<Part> {
    let (start, end) = text.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    let (start, end) = (number(start)?, number(end)?);
    Some(Part {
        start,
        length: end.checked_sub(start)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The resident kilobytes of all code that is a file's own.
    fn resident() -> u64 {
        let text = std::fs::read_to_string("/proc/self/smaps").expect("our own");
        let mut is_code = false;
        let mut sum = 0;
        for line in text.lines() {
            if let Some(size) = line.strip_prefix("Rss:") {
                let size = size.trim().trim_end_matches(" kB").parse::<u64>();
                sum += size.expect("a number") * u64::from(is_code);
            } else if !line.contains(": ") {
                is_code = line.contains(" r-xp ") && line.contains('/');
            }
        }
        sum
    }

    #[test]
    fn code_of_the_start_is_mapped_given_back_and_runs_again() {
        let found = resident();
        map_startup_code();
        let before = resident();
        assert!(found < before, "{found} kB found");
        release_startup_code();
        assert!(resident() < before, "{before} kB before");
        assert_eq!("runs again".to_uppercase(), "RUNS AGAIN");
    }

    #[test]
    fn only_parts_of_code_that_are_the_files_own_are_found() {
        let mapping = |header: &str, own: &str| {
            format!(
                "{header}\nSize: 8 kB\nPrivate_Dirty: {own} kB\nAnonymous: {own} kB\nVmFlags: rd ex\n"
            )
        };
        let text = [
            mapping("1000-3000 r-xp 00000000 08:01 7    /usr/bin/x y", "0"),
            // A debugger has set a breakpoint there.
            mapping("3000-5000 r-xp 00000000 08:01 7    /usr/bin/x", "4"),
            mapping("5000-6000 rw-p 00000000 08:01 7    /usr/bin/x", "0"),
            mapping("6000-7000 r-xp 00000000 00:00 0 ", "0"),
            mapping("7000-8000 r-xp 00000000 00:00 0    [vdso]", "0"),
            mapping("9000-8000 r-xp 00000000 00:00 0    /broken", "0"),
            // The names that it was linked by, and what was changed when it was.
            mapping("a000-b000 r--p 00000000 08:01 7    /usr/bin/x y", "0"),
            mapping("b000-c000 r--p 00001000 08:01 7    /usr/bin/x y", "4"),
            mapping("c000-d000 r--p 00000000 08:01 9    /some/data", "0"),
            mapping("d000-e000 r--s 00000000 08:01 7    /usr/bin/x y", "0"),
        ];
        let part = |start, length| Part { start, length };
        let expected = [part(0x1000, 0x2000), part(0xa000, 0x1000)];
        assert_eq!(unchanged_parts(&text.concat()), expected);
        assert_eq!(unchanged_parts("nonsense\n- x\nVmFlags:"), []);
    }
}
