//! A small PE image around given metadata and debug data.

/// Makes an image with one section: the CLI header, the metadata, and one debug entry of a kind.
pub fn build(metadata: &[u8], debug_kind: u32, debug_data: &[u8]) -> Vec<u8> {
    const HEADERS: u32 = 0x200;
    const RVA: u32 = 0x2000;
    let cli = 0;
    let metadata_at = 72;
    let directory_at = (metadata_at + metadata.len()).next_multiple_of(4);
    let debug_at = directory_at + 28;
    let mut section = vec![0; debug_at + debug_data.len()];
    let mut put = |at: usize, bytes: &[u8]| section[at..at + bytes.len()].copy_from_slice(bytes);
    let rva = |at: usize| RVA + at as u32;
    let words = |words: &[u32]| {
        words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<_>>()
    };
    put(
        cli,
        &words(&[72, 0x0005_0002, rva(metadata_at), metadata.len() as u32, 1]),
    );
    put(metadata_at, metadata);
    let (size, offset) = (debug_data.len() as u32, HEADERS + debug_at as u32);
    put(
        directory_at,
        &words(&[0, 0, 0x0100_0100, debug_kind, size, rva(debug_at), offset]),
    );
    put(debug_at, debug_data);

    let mut image = vec![0; HEADERS as usize];
    let mut put = |at: usize, bytes: &[u8]| image[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"MZ");
    put(0x3c, &0x80_u32.to_le_bytes());
    put(0x80, b"PE\0\0");
    // One section, an optional header of 224 bytes with sixteen directories.
    put(0x84, &[0x4c, 0x01, 1, 0]);
    put(0x94, &[224, 0, 0x22, 0x00]);
    put(0x98, &[0x0b, 0x01]);
    put(0x98 + 92, &16_u32.to_le_bytes());
    put(0x98 + 96 + 6 * 8, &words(&[rva(directory_at), 28]));
    put(0x98 + 96 + 14 * 8, &words(&[rva(cli), 72]));
    let length = section.len() as u32;
    put(0x98 + 224, b".text\0\0\0");
    put(0x98 + 224 + 8, &words(&[length, RVA, length, HEADERS]));
    image.extend(section);
    image
}
