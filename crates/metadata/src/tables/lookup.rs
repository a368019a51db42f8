//! Finding rows by the value of a column.
//!
//! The format promises that most such tables are sorted, so a binary search finds all matches. Where it does not promise it, or a
//! file says that it did not keep it (edit-and-continue), a sorted list of row numbers is made on first use. Either way a
//! lookup costs a logarithm, never a scan.

use std::ops::Range;
use std::slice;
use std::sync::OnceLock;

use super::layout::Layout;
use super::schema::Table;

/// A column that rows are looked up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    InterfaceImplClass,
    ConstantParent,
    CustomAttributeParent,
    ClassLayoutParent,
    FieldLayoutField,
    EventMapParent,
    PropertyMapParent,
    SemanticsAssociation,
    SemanticsMethod,
    MethodImplClass,
    ImplMapMember,
    FieldRvaField,
    NestedClassNested,
    NestedClassEnclosing,
    GenericParamOwner,
    ConstraintOwner,
    LocalScopeMethod,
    StateMachineMoveNext,
    StateMachineKickoff,
    DebugInformationParent,
    FieldPtr,
    MethodPtr,
    ParamPtr,
    EventPtr,
    PropertyPtr,
}

const N_KEYS: usize = Key::PropertyPtr as usize + 1;

impl Key {
    /// The table, the column's index, and whether the format sorts the table by it.
    const fn column(self) -> (Table, usize, bool) {
        match self {
            Self::InterfaceImplClass => (Table::InterfaceImpl, 0, true),
            Self::ConstantParent => (Table::Constant, 1, true),
            Self::CustomAttributeParent => (Table::CustomAttribute, 0, true),
            Self::ClassLayoutParent => (Table::ClassLayout, 2, true),
            Self::FieldLayoutField => (Table::FieldLayout, 1, true),
            Self::EventMapParent => (Table::EventMap, 0, true),
            Self::PropertyMapParent => (Table::PropertyMap, 0, true),
            Self::SemanticsAssociation => (Table::MethodSemantics, 2, true),
            Self::SemanticsMethod => (Table::MethodSemantics, 1, false),
            Self::MethodImplClass => (Table::MethodImpl, 0, true),
            Self::ImplMapMember => (Table::ImplMap, 1, true),
            Self::FieldRvaField => (Table::FieldRva, 1, true),
            Self::NestedClassNested => (Table::NestedClass, 0, true),
            Self::NestedClassEnclosing => (Table::NestedClass, 1, false),
            Self::GenericParamOwner => (Table::GenericParam, 2, true),
            Self::ConstraintOwner => (Table::GenericParamConstraint, 0, true),
            Self::LocalScopeMethod => (Table::LocalScope, 0, true),
            Self::StateMachineMoveNext => (Table::StateMachineMethod, 0, true),
            Self::StateMachineKickoff => (Table::StateMachineMethod, 1, false),
            Self::DebugInformationParent => (Table::CustomDebugInformation, 0, true),
            Self::FieldPtr => (Table::FieldPtr, 0, false),
            Self::MethodPtr => (Table::MethodPtr, 0, false),
            Self::ParamPtr => (Table::ParamPtr, 0, false),
            Self::EventPtr => (Table::EventPtr, 0, false),
            Self::PropertyPtr => (Table::PropertyPtr, 0, false),
        }
    }

    /// The key that turns a member's row into its position in a pointer table.
    pub(crate) const fn of_pointer_table(table: Table) -> Option<Self> {
        match table {
            Table::FieldPtr => Some(Self::FieldPtr),
            Table::MethodPtr => Some(Self::MethodPtr),
            Table::ParamPtr => Some(Self::ParamPtr),
            Table::EventPtr => Some(Self::EventPtr),
            Table::PropertyPtr => Some(Self::PropertyPtr),
            _ => None,
        }
    }
}

/// Row numbers in the order of a column, made when first needed.
#[derive(Debug, Default)]
pub(crate) struct Permutations([OnceLock<Box<[u32]>>; N_KEYS]);

/// Rows of one table that share a column's value.
#[derive(Debug, Clone)]
pub struct RowSet<'a>(Rows<'a>);

#[derive(Debug, Clone)]
enum Rows<'a> {
    Run(Range<u32>),
    Picked(slice::Iter<'a, u32>),
}

impl RowSet<'_> {
    /// No rows.
    pub(crate) const EMPTY: Self = Self(Rows::Run(0..0));
}

impl Iterator for RowSet<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        match &mut self.0 {
            Rows::Run(rows) => rows.next(),
            Rows::Picked(rows) => rows.next().copied(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Rows::Run(rows) => rows.size_hint(),
            Rows::Picked(rows) => rows.size_hint(),
        }
    }
}

impl ExactSizeIterator for RowSet<'_> {}

impl Layout {
    /// The rows whose column has the raw value `value`, in rising order.
    pub(crate) fn rows_where(&self, bytes: &[u8], key: Key, value: u32) -> RowSet<'_> {
        let (table, column, sorted_by_format) = key.column();
        let n_rows = self.row_count(table);
        let cell = |row: u32| self.cell(bytes, table, row, column).unwrap_or_default();
        if sorted_by_format && self.sorted & (1 << table as u32) != 0 {
            let start = partition_point(1, n_rows + 1, |row| cell(row) < value);
            if start > n_rows || cell(start) != value {
                return RowSet::EMPTY;
            }
            // Matches are few as a rule: widening from the first beats a second search.
            let mut step = 1;
            while start + step <= n_rows && cell(start + step) == value {
                step *= 2;
            }
            let limit = n_rows.min(start + step) + 1;
            let end = partition_point(start + step / 2, limit, |row| cell(row) <= value);
            return RowSet(Rows::Run(start..end));
        }
        #[expect(clippy::indexing_slicing, reason = "one slot per Key")]
        let order = self.permutations.0[key as usize].get_or_init(|| {
            let mut rows: Vec<u32> = (1..=n_rows).collect();
            rows.sort_by_key(|&row| cell(row));
            rows.into_boxed_slice()
        });
        let start = order.partition_point(|&row| cell(row) < value);
        let len = order
            .get(start..)
            .unwrap_or_default()
            .partition_point(|&row| cell(row) <= value);
        RowSet(Rows::Picked(
            order.get(start..start + len).unwrap_or_default().iter(),
        ))
    }

    /// The row whose list, begun in `column`, holds the 1-based `member` position.
    pub(crate) fn list_owner(
        &self,
        bytes: &[u8],
        table: Table,
        column: usize,
        member: u32,
    ) -> Option<u32> {
        let n_rows = self.row_count(table);
        let after = partition_point(1, n_rows + 1, |row| {
            self.cell(bytes, table, row, column).unwrap_or_default() <= member
        });
        // Rows with empty lists share their neighbour's start; the last of them owns it.
        (after > 1).then_some(after - 1)
    }
}

/// The first of `start..end` for which `before` is false; `before` must turn false once.
fn partition_point(start: u32, end: u32, before: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (start, end.max(start));
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
