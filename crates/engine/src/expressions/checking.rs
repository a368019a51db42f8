//! Whether a condition or message can mean anything at a place in code, told before a thread comes by.
//!
//! Only what is sure is refused. An assembly that the program has not loaded yet may bring the name that is missing
//! today, and type parameters are known only when the code runs: then the hit tells, as it tells everything.

use cordebug::file::MappedFile;
use metadata::{IlOffset, Token};
use syntax::Span;

use super::bind::missing::{image_of, quoted, unloaded_references};
use super::bind::{Binder, Context, Import, LINQ};
use super::error::{Fail, Result};
use super::frames::{declared_context, is_dynamic};
use super::getters::field_behind;
use super::intrinsics::is_linq;
use super::plan::{Node, Op};
use super::stops::{Condition, Message, Planned};
use crate::api::{Error, ErrorCode};
use crate::breakpoints::CodeLocation;
use crate::target::Target;
use crate::types::{ModuleId, Type, Types};
use crate::values::shape::{CodePlace, Shape};

/// Codes of errors that another assembly could mend with a type or namespace of the name.
const OF_TYPES: [&str; 11] = [
    "CS0103", "CS0118", "CS0119", "CS0120", "CS0234", "CS0246", "CS0305", "CS0308", "CS0400",
    "CS0426", "CS0432",
];
/// Those that one could mend with a type that the text does not name: a query's operators, a collection's builder.
const OF_PATTERNS: [&str; 7] = [
    "CS1579", "CS1936", "CS1941", "CS1942", "CS1943", "CS8129", "CS9174",
];
/// Those that tell of a call as a whole: an extension method of the name may be the one that is meant.
const OF_CALLS: [&str; 16] = [
    "CS0121", "CS0123", "CS0310", "CS0311", "CS0411", "CS1501", "CS1503", "CS1593", "CS1615",
    "CS1620", "CS1660", "CS1678", "CS1739", "CS1929", "CS1955", "CS7036",
];

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
    let module = ModuleId(at.module);
    let Some((fail, namespaces)) = failure(planned, types, (module, at.method, at.offset)) else {
        return Ok(());
    };
    let names = names(text, fail.span);
    let may_be_mended = match fail.code {
        Some(code) if OF_TYPES.contains(&code) => {
            !is_variable(&fail, text) && may_come(types, module, &Brings::Types(&names))
        }
        Some(code) if OF_PATTERNS.contains(&code) => {
            may_come(types, module, &Brings::Names(&names))
        }
        // No assembly adds members to a type that is known, but methods that are called as if they were its own.
        Some(code) if code == "CS1061" || OF_CALLS.contains(&code) => {
            let called = match code {
                "CS1061" => Vec::new(),
                _ => called_before(text, fail.span),
            };
            let asked = names.into_iter().chain(quoted(&fail.message));
            let asked: Vec<&str> = asked.chain(called).collect();
            may_come(types, module, &Brings::Extensions(&asked, &namespaces))
        }
        _ => false,
    };
    if may_be_mended {
        return Ok(());
    }
    Err(fail)
}

/// What binding says, with the namespaces that are searched for extension methods; `None` if it succeeds or cannot be judged.
fn failure(
    planned: &Planned,
    types: Types<'_>,
    (module, method, offset): (ModuleId, Token, IlOffset),
) -> Option<(Box<Fail>, Vec<String>)> {
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
    let text = planned.written();
    let used = names(text, planned.span());
    let is_used = |it: &&crate::values::shape::Declared| used.contains(&&*it.name);
    // A query names its operators by words of its own.
    let asks_linq = || {
        let written = names(text, fail.span);
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
    let namespaces = searched(&context);
    Some((fail, namespaces))
}

/// The namespaces whose extension methods can be called: those around the method, and what its file uses.
fn searched(context: &Context) -> Vec<String> {
    let mut found = vec![String::new()];
    let own = &context.namespace;
    let outer = own.match_indices('.').map(|(at, _)| own.get(..at));
    found.extend(outer.flatten().map(str::to_owned));
    found.push(own.clone());
    for import in context.imports.iter().flatten() {
        match import {
            Import::Namespace(name) => found.push(name.clone()),
            // Of a class, too; one that is not loaded has its namespace before its name.
            Import::Static(Type::Missing { name, .. }) => {
                let namespace = name.rsplit_once('.').map_or("", |(it, _)| it);
                found.push(namespace.to_owned());
            }
            _ => {}
        }
    }
    found
}

/// The names in front of an error behind which arguments begin: calls that it may stand in.
fn called_before(text: &str, span: Span) -> Vec<&str> {
    let before = names(text, Span::new(0, span.end));
    let is_called = |name: &&str| {
        text.match_indices(*name).any(|(at, _)| {
            let behind = text.get(at + name.len()..).unwrap_or_default();
            behind.trim_start().starts_with(['(', '<'])
        })
    };
    before.into_iter().filter(is_called).collect()
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

/// What an assembly would have to have.
enum Brings<'a> {
    /// A type or namespace of one of the names.
    Types(&'a [&'a str]),
    /// Anything of one of the names.
    Names(&'a [&'a str]),
    /// An extension method of one of the names, in one of the namespaces.
    Extensions(&'a [&'a str], &'a [String]),
}

/// Whether an assembly that a module refers to, and that is not loaded, may bring what is missing.
fn may_come(types: Types<'_>, module: ModuleId, brings: &Brings<'_>) -> bool {
    let Some(unloaded) = unloaded_references(types, module) else {
        return true;
    };
    unloaded.iter().any(|assembly| {
        image_of(types, assembly).is_none_or(|image| match brings {
            Brings::Types(names) => any_name(image.as_ref(), names) && has_type(image, names),
            Brings::Names(names) => any_name(image.as_ref(), names),
            Brings::Extensions(names, namespaces) => {
                any_name(image.as_ref(), names) && has_extension(image, names, namespaces)
            }
        })
    })
}

fn any_name(image: &[u8], names: &[&str]) -> bool {
    names.iter().any(|name| has_name(image, name))
}

/// Whether an assembly has an extension method of one of the names in one of the namespaces.
fn has_extension(image: MappedFile, names: &[&str], namespaces: &[String]) -> bool {
    let Ok(module) = metadata::Module::open(metadata::Bytes::new(image)) else {
        return true;
    };
    let metadata = module.metadata();
    metadata.type_defs().flatten().any(|ty| {
        let namespace = ty.namespace().unwrap_or_default();
        namespaces.iter().any(|it| *it == namespace)
            && metadata.is_extension(ty.token())
            && ty.methods().flatten().any(|method| {
                let is_asked = |it: std::borrow::Cow<'_, str>| names.contains(&&*it);
                method.name().is_ok_and(is_asked) && metadata.is_extension(method.token())
            })
    })
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
    fn calls_are_those_in_front_of_an_error() {
        let text = "a.Of<int>(b) && c.In (d, 1) && e.Any()";
        assert_eq!(called_before(text, Span::new(25, 26)), ["Of", "In"]);
        assert_eq!(called_before("Length > 0", Span::new(0, 6)), [""; 0]);
    }

    #[test]
    fn names_in_an_image_end_as_in_metadata() {
        let image = b"\0get_Count\0List`1\0Other";
        assert!(has_name(image, "Count") && has_name(image, "List"));
        assert!(!has_name(image, "Coun") && !has_name(image, "Other"));
    }
}
