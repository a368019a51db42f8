//! Bare metadata of assemblies and PDBs: every table, heap, view and index.
#![no_main]

use fuzz::{mutate, walk};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use metadata::tables::Layout;
use metadata::{Metadata, Symbols};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::file(data, size, max_size, seed, |data| {
        mutate::metadata_regions(data, 0)
    })
});

fuzz_target!(|data: &[u8]| {
    if let Ok(symbols) = Symbols::open(data.to_vec()) {
        walk::symbols(&symbols);
    } else if let Ok(layout) = Layout::parse(data) {
        walk::metadata(Metadata::new(data, &layout));
    }
});
