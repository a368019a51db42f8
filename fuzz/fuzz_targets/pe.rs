//! Images of both layouts.
#![no_main]

use fuzz::{mutate, walk};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use metadata::Module;
use metadata::pe::ImageKind;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::file(data, size, max_size, seed, mutate::image_regions)
});

fuzz_target!(|data: &[u8]| {
    for kind in [ImageKind::File, ImageKind::Loaded] {
        if let Ok(module) = Module::open_as(data.to_vec(), kind) {
            walk::module(&module);
            let _ = module.embedded_symbols();
        }
    }
});
