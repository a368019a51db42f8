//! Sequence point blobs; the first byte is the method's document.
#![no_main]

use libfuzzer_sys::fuzz_target;
use metadata::Token;
use metadata::pdb::SequencePoints;
use metadata::tables::Table;

fuzz_target!(|data: &[u8]| {
    let Some((&document, blob)) = data.split_first() else {
        return;
    };
    let document = Token::new(Table::Document, document.into());
    let Ok(points) = SequencePoints::new(blob, document) else {
        return;
    };
    let mut last = None;
    for point in points {
        let Ok(point) = point else { return };
        assert!(last <= Some(point.offset), "offsets never fall");
        last = Some(point.offset);
        if let Some(span) = point.span {
            assert!(
                span.start_line <= span.end_line,
                "a statement never ends before its first line"
            );
        }
    }
});
