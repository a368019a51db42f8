//! Whether a condition or message can mean anything at a place in code, told before a thread comes by.
//!
//! Only what is sure is refused. An assembly that the program has not loaded yet may bring the name that is missing
//! today, and type parameters are known only when the code runs: then the hit tells, as it tells everything.

use cordebug::file::MappedFile;
use metadata::{IlOffset, Token};
use syntax::Span;

use super::bind::missing::{image_of, quoted, unloaded_references};
use super::bind::{Binder, LINQ};
use super::error::{Fail, Result};
use super::frames::{declared_context, is_dynamic};
use super::getters::field_behind;
use super::intrinsics::is_linq;
use super::plan::{Node, Op};
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
    pub(crate) fn check(
        &self,
        target: &Target,
        at: CodeLocation,
        may_run: bool,
    ) -> Result<(), Error> {
        if !may_run {
            refuse_code(&self.planned, &self.text, target, at)?;
        }
        refuse_writes(&self.planned, &self.text, target, at)?;
        check(&self.planned, &self.text, target, at)
            .map_err(|fail| fail.to_api(&self.text, ErrorCode::InvalidCondition))
    }
}

impl Message {
    /// Refuses a message with an expression that cannot be bound at a place.
    pub(crate) fn check(
        &self,
        target: &Target,
        at: CodeLocation,
        may_run: bool,
    ) -> Result<(), Error> {
        for planned in self.holes() {
            if !may_run {
                refuse_code(planned, &self.text, target, at)?;
            }
            refuse_writes(planned, &self.text, target, at)?;
            check(planned, &self.text, target, at)
                .map_err(|fail| fail.to_api(&self.text, ErrorCode::InvalidCondition))?;
        }
        Ok(())
    }
}

fn bound(planned: &Planned, types: Types<'_>, at: CodeLocation) -> Option<Node> {
    let place = CodePlace::open(types, ModuleId(at.module), at.method, at.offset).ok()?;
    let shape = Shape::of(types, &place).ok()?;
    let context = declared_context(types, &place, &shape);
    planned.bind(&mut Binder::new(types, &context)).ok()
}

/// Refuses an expression that assigns: conditions and messages never change the program.
fn refuse_writes(
    planned: &Planned,
    text: &str,
    target: &Target,
    at: CodeLocation,
) -> Result<(), Error> {
    // What has no `=`, `++` or `--` assigns nothing, and needs no second look.
    if !text.contains(['=', '+', '-']) {
        return Ok(());
    }
    let mut refused = None;
    if let Some(plan) = bound(planned, target.types(), at) {
        plan.visit(&mut |node| {
            if let Op::Assign(..) | Op::Update(..) | Op::Fill(..) | Op::Spread(..) = &node.op {
                refused.get_or_insert(node.span);
            }
        });
    }
    match refused {
        Some(span) => {
            let fail = Fail::new(
                span,
                "an assignment changes the program, which conditions and messages never do",
            );
            let fail = fail.hint("compare with ==, or evaluate the assignment when it has stopped");
            Err(fail.to_api(text, ErrorCode::InvalidCondition))
        }
        None => Ok(()),
    }
}

/// Refuses an expression that runs code of the program, or writes to it, whatever its values are. Where that depends on
/// them, the hit tells.
fn refuse_code(
    planned: &Planned,
    text: &str,
    target: &Target,
    at: CodeLocation,
) -> Result<(), Error> {
    let types = target.types();
    let Some(plan) = bound(planned, types, at) else {
        return Ok(());
    };
    let mut refused = None;
    plan.visit(&mut |node| {
        let what = match &node.op {
            Op::Call(callee, ..) if callee.intrinsic.is_none() => {
                let method = &callee.method;
                let name = method.name.strip_prefix("get_");
                // Which getter of several runs is known with the object only.
                let may_be_read =
                    name.is_some() && (callee.is_virtual || field_behind(types, method).is_some());
                (!may_be_read).then(|| format!("`{}`", name.unwrap_or(&method.name)))
            }
            Op::New(callee, _) if callee.intrinsic.is_none() && node.ty.is_reference() => {
                Some("`new`".into())
            }
            Op::Assign(..) | Op::Update(..) | Op::Fill(..) | Op::Spread(..) => {
                Some("an assignment".into())
            }
            _ => None,
        };
        if let Some(what) = what {
            refused.get_or_insert((node.span, what));
        }
    });
    let Some((span, what)) = refused else {
        return Ok(());
    };
    let message =
        format!("{what} would run code in the program, and this session only looks at it");
    let fail = Fail::new(span, message).hint("compare fields and locals, which need no code");
    Err(fail.to_api(text, ErrorCode::PermissionDenied))
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
    if is_lookup
        && !is_variable(&fail, text)
        && may_come(types, ModuleId(at.module), &names, is_type_name(&fail))
    {
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
    let mut binder = Binder::new(types, &context).assuming();
    let fail = planned.bind(&mut binder).err()?;
    // What the compiler has no code for is about this very moment, as `$exception` is.
    let code = fail.code?;
    // What is dynamic has members and operators only when it holds something, and an assembly is loaded at the hit.
    let text = planned.text();
    let whole = Span::new(0, u32::try_from(text.len()).unwrap_or(u32::MAX));
    let used = names(&text, whole);
    let is_used = |it: &&crate::values::shape::Declared| used.contains(&&*it.name);
    // A query names its operators by words of its own.
    let asks_linq = || {
        let written = names(&text, fail.span);
        written
            .into_iter()
            .chain(quoted(&fail.message))
            .any(is_linq)
    };
    let lacks = fail.lacks.as_deref();
    if binder.has_met_dynamic()
        || shape.variables.iter().filter(is_used).any(is_dynamic)
        || lacks.is_some_and(|it| it != LINQ || asks_linq())
    {
        return None;
    }
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

/// Whether a name that was not found stands where only a variable or a member of the class can: no assembly brings those.
fn is_variable(fail: &Fail, text: &str) -> bool {
    let behind = text.get(fail.span.end as usize..).unwrap_or_default();
    fail.code == Some("CS0103") && !behind.trim_start().starts_with(['.', '(', '<', ':'])
}

/// Whether the name that was not found is one of a type or namespace.
fn is_type_name(fail: &Fail) -> bool {
    matches!(fail.code, Some("CS0103" | "CS0234" | "CS0246"))
}

/// Whether an assembly that a module refers to, and that is not loaded, may bring one of the names.
fn may_come(types: Types<'_>, module: ModuleId, names: &[&str], is_type_name: bool) -> bool {
    let Some(unloaded) = unloaded_references(types, module) else {
        return true;
    };
    for assembly in unloaded {
        let found = image_of(types, &assembly);
        let may_bring = found.is_none_or(|image| {
            names.iter().any(|name| has_name(image.as_ref(), name))
                && (!is_type_name || has_type(image, names))
        });
        if may_bring {
            return true;
        }
    }
    false
}

/// Whether an assembly has a type, or a namespace, of one of the names.
fn has_type(image: MappedFile, names: &[&str]) -> bool {
    let Ok(module) = metadata::Module::open(metadata::Bytes::new(image)) else {
        return true;
    };
    let metadata = module.metadata();
    let is_asked = |name: &str| names.contains(&name.split('`').next().unwrap_or(name));
    let of_own = metadata.type_defs().flatten().any(|ty| {
        let namespace = ty.namespace().unwrap_or_default();
        ty.name().is_ok_and(|it| is_asked(&it)) || namespace.split('.').any(is_asked)
    });
    // What it passes on to others is found by its name only.
    of_own
        || metadata
            .rows::<metadata::tables::ExportedTypeRow>()
            .next()
            .is_some()
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
