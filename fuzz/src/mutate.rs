//! Mutators that keep a file's structure.
//!
//! Most random changes to an image break a header, and every one of them ends at the same early return. These pick a region of the file, change
//! bytes inside it, and leave the rest: headers survive most of the time, and what lies behind them is reached.

use std::ops::Range;

use libfuzzer_sys::fuzzer_mutate;

/// A small generator for choosing regions; the bytes themselves are changed by libFuzzer.
pub struct Choice(u64);

impl Choice {
    pub fn new(seed: u32) -> Self {
        Self(u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }
}

/// Changes bytes in one of the regions, without moving anything.
pub fn in_region(data: &mut [u8], regions: &[Range<usize>], seed: u32) {
    let mut choice = Choice::new(seed);
    let regions: Vec<_> = regions.iter().filter(|it| !it.is_empty()).collect();
    let Some(&region) = regions.get(choice.below(regions.len())) else {
        return;
    };
    let Some(bytes) = data.get_mut(region.clone()) else {
        return;
    };
    // A window of the region, so that a large heap does not swallow all changes.
    let window = (1 + choice.below(64)).min(bytes.len());
    let start = choice.below(bytes.len() - window + 1);
    let Some(bytes) = bytes.get_mut(start..start + window) else {
        return;
    };
    let mut copy = bytes.to_vec();
    let size = copy.len();
    let new_size = fuzzer_mutate(&mut copy, size, size);
    for (slot, &byte) in bytes.iter_mut().zip(copy.iter().take(new_size)) {
        *slot = byte;
    }
}

fn word(data: &[u8], at: usize) -> Option<usize> {
    let chunk: [u8; 4] = data.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(u32::from_le_bytes(chunk) as usize)
}

/// The streams of a metadata root that begins at `root`, and the counts at the head of the tables.
pub fn metadata_regions(data: &[u8], root: usize) -> Vec<Range<usize>> {
    let mut regions = Vec::new();
    let Some(version_length) = word(data, root + 12) else {
        return regions;
    };
    let mut at = root
        .saturating_add(16)
        .saturating_add(version_length)
        .saturating_add(4);
    for _ in 0..8 {
        let (Some(start), Some(size)) = (word(data, at), word(data, at + 4)) else {
            break;
        };
        let Some(name) = data.get(at + 8..) else {
            break;
        };
        let length = name
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(name.len());
        let start = root.saturating_add(start);
        let range = start..start.saturating_add(size);
        if range.len() > 0 && data.get(range.clone()).is_some() {
            if name.starts_with(b"#~") || name.starts_with(b"#-") {
                regions.push(start..start + size.min(160));
            }
            regions.push(range);
        }
        at += 8 + (length + 4) / 4 * 4;
    }
    regions
}

/// Where the metadata root of an image, or of bare metadata, begins.
pub fn metadata_root(data: &[u8]) -> Option<usize> {
    data.windows(4).position(|window| window == b"BSJB")
}

/// The headers of an image, its metadata, and what lies between.
pub fn image_regions(data: &[u8]) -> Vec<Range<usize>> {
    let root = metadata_root(data).unwrap_or(data.len());
    let headers = word(data, 0x3c)
        .filter(|&at| at < data.len())
        .unwrap_or_default();
    let mut regions = vec![
        headers..data.len().min(headers + 400),
        0..root,
        root..data.len(),
    ];
    regions.extend(metadata_regions(data, root));
    regions
}

/// A mutator for files: in most runs a region changes, in some libFuzzer does as it likes.
pub fn file(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    regions: fn(&[u8]) -> Vec<Range<usize>>,
) -> usize {
    if seed % 16 == 0 || size < 64 {
        return fuzzer_mutate(data, size, max_size);
    }
    let Some(used) = data.get_mut(..size) else {
        return size;
    };
    let regions = regions(used);
    for round in 0..1 + seed % 3 {
        in_region(used, &regions, seed.wrapping_add(round << 8));
    }
    size
}
