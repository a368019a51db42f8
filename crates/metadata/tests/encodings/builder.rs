//! Writes metadata by the rules of ECMA-335 II.24 and II.23.2, to be read back.

use std::collections::BTreeMap;

use metadata::signature::{MethodSignature, Type};
use metadata::tables::{Coded, Column, Table};
use metadata::{Metadata, tables};

/// Metadata in the making.
pub(crate) struct Builder {
    pub(super) strings: Vec<u8>,
    pub(super) blobs: Vec<u8>,
    pub(super) guids: Vec<u8>,
    pub(super) rows: BTreeMap<Table, Vec<Vec<u32>>>,
    /// Rows of the assembly that a PDB refers to; makes the result a PDB.
    pub(crate) referenced: Option<BTreeMap<Table, u32>>,
    /// The tables that the result calls sorted.
    pub(crate) sorted: u64,
    /// Whether the result is a delta without the tables it refers to, in which all indexes are wide.
    pub(crate) minimal_delta: bool,
    /// The name of the table stream.
    pub(crate) stream: &'static str,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            strings: vec![0],
            blobs: vec![0],
            guids: Vec::new(),
            rows: BTreeMap::new(),
            referenced: None,
            sorted: u64::MAX,
            minimal_delta: false,
            stream: "#~",
        }
    }
}

pub(crate) fn compressed(out: &mut Vec<u8>, value: u32) {
    match value {
        0..0x80 => out.push(value as u8),
        0x80..0x4000 => out.extend((value as u16 | 0x8000).to_be_bytes()),
        _ => {
            assert!(value < 0x2000_0000, "too large to be compressed");
            out.extend((value | 0xc000_0000).to_be_bytes());
        }
    }
}

pub(crate) fn compressed_signed(out: &mut Vec<u8>, value: i32) {
    let rotate = |bits: u32| (value as u32) << 1 & ((1 << bits) - 1) | u32::from(value < 0);
    match value {
        -0x40..0x40 => out.push(rotate(7) as u8),
        -0x2000..0x2000 => out.extend((rotate(14) as u16 | 0x8000).to_be_bytes()),
        _ => out.extend((rotate(29) | 0xc000_0000).to_be_bytes()),
    }
}

impl Builder {
    /// A PDB for an assembly with these row counts.
    pub(crate) fn pdb(referenced: &[(Table, u32)]) -> Self {
        Self {
            referenced: Some(referenced.iter().copied().collect()),
            ..Self::default()
        }
    }

    pub(crate) fn string(&mut self, text: &str) -> u32 {
        let at = self.strings.len() as u32;
        self.strings.extend(text.as_bytes());
        self.strings.push(0);
        at
    }

    pub(crate) fn blob(&mut self, bytes: &[u8]) -> u32 {
        let at = self.blobs.len() as u32;
        compressed(&mut self.blobs, bytes.len() as u32);
        self.blobs.extend(bytes);
        at
    }

    pub(crate) fn guid(&mut self, guid: metadata::Guid) -> u32 {
        self.guids.extend(guid.0);
        (self.guids.len() / 16) as u32
    }

    /// Adds a row of raw cells and returns its number.
    pub(crate) fn row(&mut self, table: Table, cells: &[u32]) -> u32 {
        assert_eq!(cells.len(), table.columns().len(), "{table:?}");
        let rows = self.rows.entry(table).or_default();
        rows.push(cells.to_vec());
        rows.len() as u32
    }

    fn n_rows(&self, table: Table) -> u32 {
        let own = self.rows.get(&table).map_or(0, Vec::len) as u32;
        let referenced = self
            .referenced
            .as_ref()
            .and_then(|it| it.get(&table))
            .copied();
        own.max(referenced.unwrap_or_default())
    }

    fn is_wide(&self, column: Column) -> bool {
        let coded = |coded: Coded, bits: u32| {
            let tables = Table::ALL
                .iter()
                .filter(|&&it| coded.encode(metadata::Token::new(it, 1)).is_some());
            tables.map(|&it| self.n_rows(it)).max().unwrap_or_default() >= 1 << (16 - bits)
        };
        match column {
            Column::U2 => false,
            Column::U4 => true,
            _ if self.minimal_delta => true,
            Column::Str => self.strings.len() > 0xffff,
            Column::Guid => self.guids.len() / 16 > 0xffff,
            Column::Blob => self.blobs.len() > 0xffff,
            Column::Row(table) | Column::List(table) => self.n_rows(table) > 0xffff,
            Column::Coded(kind) => coded(
                kind,
                match kind {
                    Coded::HasCustomAttribute | Coded::HasCustomDebugInformation => 5,
                    Coded::MemberRefParent | Coded::CustomAttributeType => 3,
                    Coded::TypeDefOrRef
                    | Coded::HasConstant
                    | Coded::HasDeclSecurity
                    | Coded::Implementation
                    | Coded::ResolutionScope => 2,
                    _ => 1,
                },
            ),
        }
    }

    fn table_stream(&self) -> Vec<u8> {
        let heap_flag = |column, bit| if self.is_wide(column) { bit } else { 0 };
        let flags =
            heap_flag(Column::Str, 1_u8) | heap_flag(Column::Guid, 2) | heap_flag(Column::Blob, 4);
        let mut out = vec![0, 0, 0, 0, 2, 0, flags, 1];
        let valid = self
            .rows
            .keys()
            .fold(0_u64, |mask, &table| mask | 1 << table as u64);
        out.extend(valid.to_le_bytes());
        out.extend(self.sorted.to_le_bytes());
        for rows in self.rows.values() {
            out.extend((rows.len() as u32).to_le_bytes());
        }
        for (&table, rows) in &self.rows {
            let widths: Vec<_> = table
                .columns()
                .iter()
                .map(|&column| self.is_wide(column))
                .collect();
            for (&cell, &wide) in rows.iter().flat_map(|row| row.iter().zip(&widths)) {
                if wide {
                    out.extend(cell.to_le_bytes());
                } else {
                    out.extend(u16::try_from(cell).expect("a narrow cell").to_le_bytes());
                }
            }
        }
        out
    }

    fn pdb_stream(&self) -> Option<Vec<u8>> {
        let referenced = self.referenced.as_ref()?;
        let mut out = vec![7; 20];
        out.extend([0; 4]);
        let mask = referenced
            .keys()
            .fold(0_u64, |mask, &table| mask | 1 << table as u64);
        out.extend(mask.to_le_bytes());
        referenced
            .values()
            .for_each(|rows| out.extend(rows.to_le_bytes()));
        Some(out)
    }

    /// The finished metadata.
    pub(crate) fn build(&self) -> Vec<u8> {
        let mut streams = vec![
            (self.stream, self.table_stream()),
            ("#Strings", self.strings.clone()),
            ("#Blob", self.blobs.clone()),
            ("#GUID", self.guids.clone()),
        ];
        if self.minimal_delta {
            streams.push(("#JTD", Vec::new()));
        }
        streams.extend(self.pdb_stream().map(|stream| ("#Pdb", stream)));
        let padded = |name: &str| (name.len() + 1).next_multiple_of(4);
        let headers: usize = streams.iter().map(|(name, _)| 8 + padded(name)).sum();
        let mut out = b"BSJB\x01\0\x01\0\0\0\0\0\x04\0\0\0v4\0\0\0\0".to_vec();
        out.extend((streams.len() as u16).to_le_bytes());
        let mut at = out.len() + headers;
        for (name, stream) in &streams {
            out.extend((at as u32).to_le_bytes());
            out.extend((stream.len() as u32).to_le_bytes());
            out.extend(name.as_bytes());
            out.resize(out.len() + padded(name) - name.len(), 0);
            at += stream.len();
        }
        streams
            .into_iter()
            .for_each(|(_, stream)| out.extend(stream));
        out
    }

    /// Builds, and shows the result to `look`.
    pub(crate) fn read<T>(&self, look: impl FnOnce(Metadata<'_>) -> T) -> T {
        let bytes = self.build();
        let layout = tables::Layout::parse(&bytes).expect("well-formed metadata");
        look(Metadata::new(&bytes, &layout))
    }
}

/// Writes a type (II.23.2.12).
pub(crate) fn write_type(out: &mut Vec<u8>, ty: &Type) {
    let token = |out: &mut Vec<u8>, token| {
        compressed(
            out,
            Coded::TypeDefOrRef.encode(token).expect("a type's token"),
        );
    };
    match ty {
        Type::Primitive(primitive) => out.push(*primitive as u8),
        Type::Named {
            token: of,
            is_value,
        } => {
            out.push(if *is_value { 0x11 } else { 0x12 });
            token(out, *of);
        }
        Type::Generic {
            token: of,
            is_value,
            arguments,
        } => {
            out.extend([0x15, if *is_value { 0x11 } else { 0x12 }]);
            token(out, *of);
            compressed(out, arguments.len() as u32);
            arguments
                .iter()
                .for_each(|argument| write_type(out, argument));
        }
        Type::TypeParameter(number) => {
            out.push(0x13);
            compressed(out, *number);
        }
        Type::MethodParameter(number) => {
            out.push(0x1e);
            compressed(out, *number);
        }
        Type::SzArray(inner) => write_prefixed(out, 0x1d, inner),
        Type::Array { element, shape } => {
            write_prefixed(out, 0x14, element);
            compressed(out, shape.rank);
            compressed(out, shape.sizes.len() as u32);
            shape.sizes.iter().for_each(|&size| compressed(out, size));
            compressed(out, shape.lower_bounds.len() as u32);
            shape
                .lower_bounds
                .iter()
                .for_each(|&bound| compressed_signed(out, bound));
        }
        Type::Pointer(inner) => write_prefixed(out, 0x0f, inner),
        Type::ByRef(inner) => write_prefixed(out, 0x10, inner),
        Type::Pinned(inner) => write_prefixed(out, 0x45, inner),
        Type::Function(method) => {
            out.push(0x1b);
            write_method(out, method);
        }
        Type::Modified {
            required,
            modifier,
            inner,
        } => {
            out.push(if *required { 0x1f } else { 0x20 });
            token(out, *modifier);
            write_type(out, inner);
        }
    }
}

fn write_prefixed(out: &mut Vec<u8>, code: u8, inner: &Type) {
    out.push(code);
    write_type(out, inner);
}

/// Writes a method signature (II.23.2.1).
pub(crate) fn write_method(out: &mut Vec<u8>, method: &MethodSignature) {
    out.push(method.convention.0);
    if method.convention.is_generic() {
        compressed(out, method.generic_arity);
    }
    compressed(out, method.parameters.len() as u32);
    write_type(out, &method.return_type);
    for (index, parameter) in method.parameters.iter().enumerate() {
        if index == method.required_parameters {
            out.push(0x41);
        }
        write_type(out, parameter);
    }
}
