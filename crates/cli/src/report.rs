//! An unhandled exception and its stack, for a person to read.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use host::api::{ExceptionReport, Frame};

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
    if let Some(exception) = exception {
        inner(exception, 1, &mut text);
    }
    let mut sources = Sources::default();
    for frame in frames {
        text += &format!("  at {}", plain(&frame.method));
        if let Some(source) = &frame.source {
            let path = plain(&source.path.display().to_string());
            text += &format!(" in {path}:{}", source.line.0);
        } else if let Some(module) = &frame.module {
            text += &format!(" in {}", plain(module));
        }
        text.push('\n');
        if let Some(source) = &frame.source
            && let Some(line) = sources.line(&source.path, source.line.0)
        {
            text += &format!("      {line}\n");
        }
    }
    if more {
        text += "  …\n";
    }
    text
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
    use host::api::{Line, Source};

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
    fn an_exception_that_cannot_be_read_is_still_told() {
        expect![[r#"
            ndbg: unhandled exception
              at Main in shop.dll
        "#]]
        .assert_eq(&unhandled(None, &[frame("Main", None)], false));
    }
}
