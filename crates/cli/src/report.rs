//! An unhandled exception or a failed assertion and its stack, for a person to read.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use host::api::{ExceptionReport, Frame, Source, TraceFrame};

use crate::output::{cut, plain};

/// The longest source line that is shown.
const MAX_LINE: usize = 160;
/// The largest source file that is looked into.
const MAX_SOURCE: u64 = 8 << 20;

/// The exception, its inner exceptions and the stack, with the source line of each frame where it can be read.
pub(crate) fn unhandled(
    exception: Option<&ExceptionReport>,
    frames: &[Frame],
    more: bool,
) -> String {
    let mut text = match exception {
        Some(exception) => format!("ndbg: unhandled {}\n", title(exception, "  ")),
        None => "ndbg: unhandled exception\n".to_owned(),
    };
    let mut sources = Sources::default();
    if let Some(exception) = exception {
        inner(exception, 1, &mut text);
        text += &thrown_before(exception, frames, &mut sources);
    }
    text + &stack(frames, more, &mut sources)
}

/// A failed assertion and the stack below it. That the program goes on is a debugger's doing.
pub(crate) fn assertion(
    message: Option<&str>,
    detail: Option<&str>,
    frames: &[Frame],
    more: bool,
) -> String {
    let mut text = "ndbg: assertion failed".to_owned();
    let said = [message, detail].into_iter().flatten();
    for (index, part) in said.filter(|it| !it.is_empty()).enumerate() {
        let before = if index == 0 { ": " } else { "\n  " };
        text += &format!("{before}{}", plain(part).replace('\n', "\n  "));
    }
    text.push('\n');
    // What checks and tells it is not where it failed.
    let failed = frames.iter().position(|it| it.user_code).unwrap_or(0);
    let below = frames.get(failed..).unwrap_or_default();
    text += &stack(below, more, &mut Sources::default());
    text + "  the program goes on, since it is debugged; without a debugger it would end here\n"
}

/// The way of an exception up to where it was thrown again, which the stack has no longer.
fn thrown_before(exception: &ExceptionReport, frames: &[Frame], sources: &mut Sources) -> String {
    let is_on_stack = |it: &TraceFrame| {
        let same = |frame: &Frame| frame.method == it.method && frame.source == it.source;
        frames.iter().any(same)
    };
    let mut users = exception.trace.iter().filter(|it| it.user_code);
    let origin = users.find(|it| it.source.is_some());
    let mut text = String::new();
    if origin.is_none_or(is_on_stack) {
        return text;
    }
    for entry in exception.trace.iter().take_while(|it| !is_on_stack(it)) {
        let (source, module) = (entry.source.as_ref(), entry.module.as_deref());
        text += &at(&entry.method, source, module, sources);
        if entry.rethrown {
            text += AGAIN;
        }
    }
    if !text.ends_with(AGAIN) {
        text += AGAIN;
    }
    text
}

/// Between where an exception was thrown and where it was thrown again.
const AGAIN: &str = "  and was thrown again\n";

/// Frames with their source lines, those of a recursion once.
fn stack(frames: &[Frame], more: bool, sources: &mut Sources) -> String {
    let mut text = String::new();
    let mut rest = frames;
    while !rest.is_empty() {
        let (length, repeats) = repeated(rest);
        let (group, behind) = rest.split_at(length);
        for frame in group {
            let (source, module) = (frame.source.as_ref(), frame.module.as_deref());
            text += &at(&frame.method, source, module, sources);
        }
        if repeats > 0 {
            let what = match length {
                1 => "the same".to_owned(),
                _ => format!("the same {length} frames"),
            };
            text += &format!("  … {what} {repeats} more times\n");
        }
        rest = behind.get(length * repeats..).unwrap_or_default();
    }
    if more {
        text += "  …\n";
    }
    text
}

/// A frame, and its source line where it can be read.
fn at(
    method: &str,
    source: Option<&Source>,
    module: Option<&str>,
    sources: &mut Sources,
) -> String {
    let mut text = format!("  at {}", plain(method));
    if let Some(source) = source {
        let path = plain(&source.path.display().to_string());
        text += &format!(" in {path}:{}", source.line.0);
    } else if let Some(module) = module {
        text += &format!(" in {}", plain(module));
    }
    text.push('\n');
    if let Some(source) = source
        && let Some(line) = sources.line(&source.path, source.line.0)
    {
        text += &format!("      {line}\n");
    }
    text
}

/// The longest circle of methods that is looked for.
const MAX_CIRCLE: usize = 8;
/// Fewer repetitions are shown as they are.
const MIN_REPEATS: usize = 2;

/// How many of the first frames are shown as a group, and how often that group follows itself: a recursion, which may go
/// through several methods.
fn repeated(frames: &[Frame]) -> (usize, usize) {
    let is_same = |one: &Frame, other: &Frame| {
        one.method == other.method && one.module == other.module && one.source == other.source
    };
    for length in 1..=MAX_CIRCLE {
        let Some((group, behind)) = frames.split_at_checked(length) else {
            break;
        };
        let repeats = behind
            .chunks_exact(length)
            .take_while(|next| group.iter().zip(*next).all(|(a, b)| is_same(a, b)))
            .count();
        if repeats >= MIN_REPEATS {
            return (length, repeats);
        }
    }
    (1, 0)
}

/// `Type: message`, with the lines of a message below each other.
fn title(exception: &ExceptionReport, indent: &str) -> String {
    let name = plain(&exception.type_name);
    match &exception.message {
        Some(message) if !message.is_empty() => {
            format!(
                "{name}: {}",
                plain(message).replace('\n', &format!("\n{indent}"))
            )
        }
        _ => name,
    }
}

/// Inner exceptions, those of an aggregate side by side.
fn inner(exception: &ExceptionReport, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    for cause in &exception.inner {
        *text += &format!(
            "{indent}caused by {}\n",
            title(cause, &format!("{indent}  "))
        );
        inner(cause, depth + 1, text);
    }
}

/// Source files, each read once.
#[derive(Default)]
struct Sources(HashMap<PathBuf, Option<String>>);

impl Sources {
    /// A 1-based line without the blanks around it.
    fn line(&mut self, path: &Path, line: u32) -> Option<String> {
        let source = self.0.entry(path.to_owned()).or_insert_with(|| {
            let data = path.metadata().ok()?;
            if !data.is_file() || data.len() > MAX_SOURCE {
                return None;
            }
            Some(String::from_utf8_lossy(&fs::read(path).ok()?).into_owned())
        });
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let line = source.as_ref()?.lines().nth(index)?.trim();
        (!line.is_empty()).then(|| cut(&plain(line), MAX_LINE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use host::api::Line;

    fn exception(
        name: &str,
        message: Option<&str>,
        inner: Vec<ExceptionReport>,
    ) -> ExceptionReport {
        ExceptionReport {
            type_name: name.into(),
            message: message.map(str::to_owned),
            inner,
            unhandled: true,
            ..ExceptionReport::default()
        }
    }

    fn frame(method: &str, source: Option<(&Path, u32)>) -> Frame {
        Frame {
            index: 0,
            method: method.into(),
            module: Some("shop.dll".into()),
            source: source.map(|(path, line)| Source {
                path: path.to_owned(),
                line: Line(line),
                column: None,
            }),
            user_code: source.is_some(),
            ..Frame::default()
        }
    }

    #[test]
    fn an_exception_is_told_with_its_causes_and_source() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("Shop.cs");
        fs::write(&file, "class Shop {\n    throw new X(); // \u{1b}[2J\n}\n").expect("a file");
        let leaf = exception("System.FormatException", Some("no number"), Vec::new());
        let other = exception("Y", None, Vec::new());
        let aggregate = exception(
            "System.AggregateException",
            Some("two\nlines"),
            vec![leaf, other],
        );
        let top = exception(
            "Shop.OrderException",
            Some("order 2 failed"),
            vec![aggregate],
        );
        let frames = [
            frame("Shop.Order.Total()", Some((&file, 2))),
            frame(
                "Shop.Order.Gone()",
                Some((Path::new("/no/such/file.cs"), 7)),
            ),
            frame("System.Linq.Enumerable.Sum()", None),
        ];
        let text = unhandled(Some(&top), &frames, true);
        expect![[r#"
            ndbg: unhandled Shop.OrderException: order 2 failed
              caused by System.AggregateException: two
                lines
                caused by System.FormatException: no number
                caused by Y
              at Shop.Order.Total() in DIR/Shop.cs:2
                  throw new X(); // \u{1b}[2J
              at Shop.Order.Gone() in /no/such/file.cs:7
              at System.Linq.Enumerable.Sum() in shop.dll
              …
        "#]]
        .assert_eq(&text.replace(&folder.path().display().to_string(), "DIR"));
    }

    #[test]
    fn frames_of_a_recursion_are_told_once() {
        let frames = |names: &str| -> Vec<Frame> {
            let names = names.split(' ');
            names.map(|name| frame(name, None)).collect()
        };
        let check = |names: &str, expected: &[(usize, usize)]| {
            let frames = frames(names);
            let mut rest = frames.as_slice();
            let mut groups = Vec::new();
            while !rest.is_empty() {
                let (length, repeats) = repeated(rest);
                groups.push((length, repeats));
                rest = &rest[length * (repeats + 1)..];
            }
            assert_eq!(groups, expected, "{names}");
        };
        check("A A", &[(1, 0), (1, 0)]);
        check("A A A Main", &[(1, 2), (1, 0)]);
        check("Leaf A B A B A B A Main", &[(1, 0), (2, 2), (1, 0), (1, 0)]);
        expect![[r#"
            ndbg: unhandled exception
              at Leaf in shop.dll
              at A in shop.dll
              at B in shop.dll
              … the same 2 frames 2 more times
              at C in shop.dll
              … the same 3 more times
              at Main in shop.dll
        "#]]
        .assert_eq(&unhandled(
            None,
            &frames("Leaf A B A B A B C C C C Main"),
            false,
        ));
    }

    #[test]
    fn an_exception_that_cannot_be_read_is_still_told() {
        expect![[r#"
            ndbg: unhandled exception
              at Main in shop.dll
        "#]]
        .assert_eq(&unhandled(None, &[frame("Main", None)], false));
    }
}
