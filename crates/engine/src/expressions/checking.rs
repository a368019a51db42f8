//! Whether a condition or message can mean anything at a place in code, told before a thread comes by.
//!
//! Only what is sure is refused. An assembly that the program has not loaded yet may bring the name that is missing
//! today, and type parameters are known only when the code runs: then the hit tells, as it tells everything.

use cordebug::file::MappedFile;
use metadata::tables::{AssemblyRefRow, Table};
use metadata::{IlOffset, Token};
use syntax::Span;

use super::bind::Binder;
use super::error::{Fail, Result};
use super::frames::declared_context;
use super::stops::{Condition, Message, Planned};
use crate::api::{Error, ErrorCode};
use crate::breakpoints::CodeLocation;
use crate::target::Target;
use crate::types::{ModuleId, Types};
use crate::values::shape::{CodePlace, Shape};

/// Codes of errors that no other assembly could mend: operators and conversions that do not exist.
const MISFITS: [&str; 6] = ["CS0019", "CS0023", "CS0029", "CS0030", "CS0173", "CS0266"];

impl Condition {
    /// Refuses a condition that cannot be bound at a place.
    pub(crate) fn check(&self, target: &Target, at: CodeLocation) -> Result<(), Error> {
        check(&self.planned, &self.text, target, at)
            .map_err(|fail| fail.to_api(&self.text, ErrorCode::InvalidCondition))
    }
}

impl Message {
    /// Refuses a message with an expression that cannot be bound at a place.
    pub(crate) fn check(&self, target: &Target, at: CodeLocation) -> Result<(), Error> {
        for planned in self.holes() {
            check(planned, &self.text, target, at)
                .map_err(|fail| fail.to_api(&self.text, ErrorCode::InvalidCondition))?;
        }
        Ok(())
    }
}

/// Fails only if the expression is wrong whatever the program does next.
fn check(planned: &Planned, text: &str, target: &Target, at: CodeLocation) -> Result<()> {
    let types = target.types();
    let Some(fail) = failure(planned, types, (ModuleId(at.module), at.method, at.offset)) else {
        return Ok(());
    };
    // Where types do not fit, every name was found.
    let is_lookup = !fail.code.is_some_and(|it| MISFITS.contains(&it));
    let names = names(text, fail.span);
    if is_lookup && may_come(types, ModuleId(at.module), &names) {
        return Ok(());
    }
    Err(fail)
}

/// What binding says; `None` if it succeeds or cannot be judged.
fn failure(
    planned: &Planned,
    types: Types<'_>,
    (module, method, offset): (ModuleId, Token, IlOffset),
) -> Option<Box<Fail>> {
    let place = CodePlace::open(types, module, method, offset).ok()?;
    let shape = Shape::of(types, &place).ok()?;
    // Without symbols the names of locals are not known.
    if shape.without_symbols.is_some() {
        return None;
    }
    let context = declared_context(types, &place, &shape);
    let is_open = !place.declared_in.arguments.is_empty()
        || !context.type_parameters.is_empty()
        || shape.is_open();
    let missing = types.missing();
    let mut binder = Binder::new(types, &context);
    let fail = planned.bind(&mut binder).err()?;
    // What the compiler has no code for is about this very moment, as `$exception` is.
    let code = fail.code?;
    if types.missing() != missing || (is_open && code != "CS0103") {
        return None;
    }
    Some(fail)
}

/// The names that stand in a part of a text.
fn names(text: &str, span: Span) -> Vec<&str> {
    let part = text.get(span.start as usize..span.end as usize);
    part.unwrap_or(text)
        .split(|it: char| !it.is_alphanumeric() && it != '_')
        .filter(|it| !it.is_empty() && !it.starts_with(|first: char| first.is_ascii_digit()))
        .collect()
}

/// Whether an assembly that a module refers to, and that is not loaded, may bring one of the names.
fn may_come(types: Types<'_>, module: ModuleId, names: &[&str]) -> bool {
    let Ok(opened) = types.metadata(module) else {
        return true;
    };
    let metadata = opened.metadata();
    let folders: std::collections::BTreeSet<_> = types
        .modules
        .iter()
        .filter_map(|it| it.path.parent().filter(|it| it.is_absolute()))
        .collect();
    for (row, _) in metadata.rows::<AssemblyRefRow>() {
        let token = Token::new(Table::AssemblyRef, row);
        let Ok(reference) = metadata.assembly_ref(token) else {
            return true;
        };
        if types.assembly(&reference.name).is_some() {
            continue;
        }
        let file = format!("{}.dll", reference.name);
        let found = folders
            .iter()
            .find_map(|folder| MappedFile::open(&folder.join(&file)).ok());
        match found {
            Some(image) if names.iter().all(|name| !has_name(image.as_ref(), name)) => {}
            _ => return true,
        }
    }
    false
}

/// Whether a name ends somewhere in an image as names do in metadata: with a zero, or the mark of its arity.
fn has_name(image: &[u8], name: &str) -> bool {
    let name = name.as_bytes();
    image
        .windows(name.len() + 1)
        .any(|window| window.starts_with(name) && matches!(window.last(), Some(0 | b'`')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_part_that_is_wrong() {
        assert_eq!(names("a.Missing + 12", Span::new(0, 14)), ["a", "Missing"]);
        assert_eq!(names("a.Missing + 12", Span::new(2, 9)), ["Missing"]);
        assert_eq!(names("a", Span::new(3, 9)), ["a"]);
    }

    #[test]
    fn names_in_an_image_end_as_in_metadata() {
        let image = b"\0get_Count\0List`1\0Other";
        assert!(has_name(image, "Count") && has_name(image, "List"));
        assert!(!has_name(image, "Coun") && !has_name(image, "Other"));
    }
}
