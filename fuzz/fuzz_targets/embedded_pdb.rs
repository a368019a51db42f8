//! Deflated PDBs inside an image.
#![no_main]

use fuzz::{image, mutate, walk};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use metadata::Module;

const EMBEDDED_PORTABLE_PDB: u32 = 17;
const MAX_PDB: usize = 1 << 16;

// Inflates, changes the PDB inside, and deflates again; some inputs change as they are.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let inflated = data
        .get(..size)
        .map(|it| miniz_oxide::inflate::decompress_to_vec_with_limit(it, MAX_PDB));
    let Some(Ok(mut pdb)) = inflated.filter(|_| seed % 8 != 0) else {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    };
    let length = pdb.len();
    mutate::file(&mut pdb, length, length, seed, |data| {
        mutate::metadata_regions(data, 0)
    });
    let deflated = miniz_oxide::deflate::compress_to_vec(&pdb, 1);
    match data.get_mut(..deflated.len()) {
        Some(slot) if deflated.len() <= max_size => {
            slot.copy_from_slice(&deflated);
            deflated.len()
        }
        _ => size,
    }
});

fuzz_target!(|data: &[u8]| {
    // The size that the image declares is the true one, or a lie.
    let inflated = miniz_oxide::inflate::decompress_to_vec_with_limit(data, MAX_PDB);
    let size = inflated.map_or(data.len() as u32 * 3, |it| it.len() as u32);
    let mut debug_data = b"MPDB".to_vec();
    debug_data.extend(size.to_le_bytes());
    debug_data.extend(data);
    let metadata = b"BSJB\x01\0\x01\0\0\0\0\0\x04\0\0\0v4\0\0\0\0\x01\0\x24\0\0\0\x18\0\0\0#~\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let image = image::build(metadata, EMBEDDED_PORTABLE_PDB, &debug_data);
    let module = Module::open(image).expect("the image itself is well formed");
    if let Ok(Some(symbols)) = module.embedded_symbols() {
        walk::symbols(&symbols);
    }
});
