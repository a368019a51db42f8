//! Sequence point blobs; the first byte is the method's document.
#![no_main]

use libfuzzer_sys::fuzz_target;
use metadata::pdb::SequencePoints;
use metadata::tables::Table;
use metadata::{Symbols, Token};

/// A PDB with one document, one method, and the blob behind it, with some bytes behind that.
fn pdb(document: u8, blob: &[u8]) -> Vec<u8> {
    let mut tables = vec![0, 0, 0, 0, 2, 0, 4, 1];
    tables.extend((1_u64 << 0x31).to_le_bytes());
    tables.extend(0_u64.to_le_bytes());
    tables.extend(1_u32.to_le_bytes());
    tables.extend([document, 0, 1, 0, 0, 0]);
    let mut heap = vec![0];
    heap.extend((blob.len() as u32 | 0xc000_0000).to_be_bytes());
    heap.extend(blob);
    heap.extend(b"more");
    let mut out = b"BSJB\x01\0\x01\0\0\0\0\0\x04\0\0\0v1\0\0\0\0\x03\0".to_vec();
    let streams: [(&[u8], &[u8]); 3] = [
        (b"#Pdb\0\0\0\0", &[0; 32]),
        (b"#~\0\0", &tables),
        (b"#Blob\0\0\0", &heap),
    ];
    let mut at = out.len()
        + streams
            .iter()
            .map(|(name, _)| 8 + name.len())
            .sum::<usize>();
    for (name, stream) in streams {
        out.extend((at as u32).to_le_bytes());
        out.extend((stream.len() as u32).to_le_bytes());
        out.extend(name);
        at += stream.len();
    }
    streams
        .into_iter()
        .for_each(|(_, stream)| out.extend(stream));
    out
}

fuzz_target!(|data: &[u8]| {
    let Some((&document, blob)) = data.split_first() else {
        return;
    };
    let symbols = Symbols::open(pdb(document, blob)).expect("a well-formed PDB");
    let mut all = Vec::new();
    let outcome = symbols.pdb().for_each_point(|_, point| all.push(point));
    let mut all = all.into_iter();

    let document = Token::new(Table::Document, document.into());
    let Ok(points) = SequencePoints::new(blob, document) else {
        assert!(outcome.is_err());
        return;
    };
    let mut last = None;
    for point in points {
        let Ok(point) = point else {
            assert_eq!(outcome, point.map(drop));
            return;
        };
        assert_eq!(
            all.next(),
            Some(point),
            "both ways lead past the same points"
        );
        assert!(last <= Some(point.offset), "offsets never fall");
        last = Some(point.offset);
        if let Some(span) = point.span {
            assert!(
                span.start_line <= span.end_line,
                "a statement never ends before its first line"
            );
        }
    }
    assert_eq!((outcome, all.next()), (Ok(()), None));
});
