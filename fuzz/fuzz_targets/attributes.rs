//! Attributes of bare metadata; only the tables' head and the heaps change, so that attributes stay attributes.
#![no_main]

use fuzz::{mutate, walk};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use metadata::Metadata;
use metadata::tables::Layout;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::file(data, size, max_size, seed, |data| {
        let mut regions = mutate::metadata_regions(data, 0);
        // Blobs come last, and hold the arguments.
        let blobs = regions.last().cloned();
        regions.extend(blobs.into_iter().cycle().take(6));
        regions
    })
});

fuzz_target!(|data: &[u8]| {
    if let Ok(layout) = Layout::parse(data) {
        walk::attributes(Metadata::new(data, &layout));
    }
});
