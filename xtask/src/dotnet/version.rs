//! Versions of runtimes and SDKs, as their folders are named.

use std::{cmp::Ordering, fmt, fs, path::Path};

/// `major.minor.patch`, and what follows a dash in a preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    /// The first number.
    pub(crate) major: u32,
    /// The second number.
    pub(crate) minor: u32,
    /// The third number.
    pub(crate) patch: u32,
    /// `rc.1.25451.107` of `10.0.0-rc.1.25451.107`.
    pub(crate) preview: Option<String>,
}

impl Version {
    /// Reads a folder's name; anything that is not a version is `None`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (numbers, preview) = match text.split_once('-') {
            Some((numbers, preview)) => (numbers, Some(preview.to_owned())),
            None => (text, None),
        };
        let mut numbers = numbers.split('.').map(|part| part.parse().ok());
        let version = Self {
            major: numbers.next()??,
            minor: numbers.next()??,
            patch: numbers.next()??,
            preview,
        };
        numbers.next().is_none().then_some(version)
    }

    /// The versions that folders in `folder` are named by, in no order.
    pub(crate) fn all_in(folder: &Path) -> Vec<Self> {
        let Ok(entries) = fs::read_dir(folder) else {
            return Vec::new();
        };
        entries
            .filter_map(|entry| Self::parse(entry.ok()?.file_name().to_str()?))
            .collect()
    }

    /// The newest of [`Version::all_in`].
    pub(crate) fn newest_in(folder: &Path) -> Option<Self> {
        Self::all_in(folder).into_iter().max()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        match &self.preview {
            Some(preview) => write!(f, "-{preview}"),
            None => Ok(()),
        }
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = |v: &Self| (v.major, v.minor, v.patch);
        numbers(self)
            .cmp(&numbers(other))
            // A preview comes before its release.
            .then_with(|| self.preview.is_none().cmp(&other.preview.is_none()))
            .then_with(|| self.preview.cmp(&other.preview))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_versions_round_trip() {
        for text in ["9.0.1", "10.0.401", "10.0.0-rc.1.25451.107"] {
            let version = Version::parse(text).expect("a version");
            assert_eq!(version.to_string(), text);
        }
        for text in ["", "9.0", "9.0.1.2", "9.0.x", "current", "-1.0.0"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }

    #[test]
    fn order_is_by_number_and_previews_come_first() {
        let order = [
            "3.1.2",
            "9.0.9",
            "9.0.11",
            "10.0.0-preview.7",
            "10.0.0-rc.1",
            "10.0.0",
        ];
        let versions = order.map(|text| Version::parse(text).expect("a version"));
        assert!(versions.is_sorted());
    }
}
