//! Orderings that the program has made: `ThenBy` goes on with them.
//!
//! Such an object of LINQ has what it orders, by which key, and the ordering before it in its fields, which are called alike on
//! all versions of the framework.

use syntax::Span;

use super::{Result, Runner, Val};
use crate::expressions::scalar::Scalar;
use crate::values::Object;

/// Orderings on top of each other.
const MAX_LEVELS: usize = 64;

impl Runner<'_, '_> {
    /// Which levels of an ordering are descending, and its parts: the source, then a key and a comparer for each level.
    pub(super) fn ordering_in_program(
        &mut self,
        source: &Val,
        span: Span,
    ) -> Result<Option<(Vec<bool>, Vec<Val>)>> {
        let mut levels = Vec::new();
        let mut next = source.clone();
        while let Val::Object(object) = &next {
            if !self.is_ordering(object) || levels.len() >= MAX_LEVELS {
                return Ok(None);
            }
            let object = object.clone();
            let key = self.part_of_ordering(&object, "_keySelector", span)?;
            let comparer = self.part_of_ordering(&object, "_comparer", span)?;
            let descending = self.part_of_ordering(&object, "_descending", span)?;
            let is_descending = matches!(descending, Val::Scalar(Scalar::Bool(true)));
            levels.insert(0, (is_descending, key, self.given_comparer(comparer)));
            next = self.part_of_ordering(&object, "_parent", span)?;
            if matches!(next, Val::Null) {
                let mut parts = vec![self.part_of_ordering(&object, "_source", span)?];
                let mut descending = Vec::with_capacity(levels.len());
                for (is_descending, key, comparer) in levels {
                    descending.push(is_descending);
                    parts.extend([key, comparer]);
                }
                return Ok(Some((descending, parts)));
            }
        }
        Ok(None)
    }

    fn is_ordering(&self, object: &Object) -> bool {
        let name = object
            .ty
            .as_named()
            .map(|it| self.types.full_text(&crate::types::Type::Named(it.clone())));
        name.is_some_and(|it| it.starts_with("System.Linq.") && it.contains("Ordered"))
    }

    /// A field of an ordering; null if it has none of that name.
    fn part_of_ordering(&mut self, object: &Object, name: &str, span: Span) -> Result<Val> {
        if self.reader.object_field(object, name).is_err() {
            return Ok(Val::Null);
        }
        let object = object.clone();
        self.journaled(span, |this| this.raw(&object, name, span))
    }

    /// A comparer, unless it is the default one, which is known here.
    fn given_comparer(&self, comparer: Val) -> Val {
        let is_default = match &comparer {
            Val::Object(object) => ["GenericComparer`1", "NullableComparer`1", "EnumComparer`1"]
                .iter()
                .any(|it| self.is_core(&object.ty, "System.Collections.Generic", it)),
            _ => false,
        };
        match is_default {
            true => Val::Null,
            false => comparer,
        }
    }
}
