//! Prints the demo's conversation so that a person can follow it: coloured on a terminal, plain elsewhere.

use std::{path::Path, time::Duration};

use serde_json::Value;

use super::client::Answer;
use crate::{
    ui::{Style, paint},
    workspace,
};

/// Columns of a line that is wrapped.
const WIDTH: usize = 100;

/// Prints to standard output.
pub(crate) struct Printer {
    pub(crate) coloured: bool,
}

impl Printer {
    /// A part of the story begins.
    pub(crate) fn title(&self, text: &str) {
        println!("\n{}", self.paint(Style::Bold, &format!("== {text}")));
    }

    /// The program as its author has it: without its opening comment, which tells the fault, and without marks.
    pub(crate) fn source(&self, text: &str) {
        let code = text.lines().skip_while(|line| line.starts_with("//"));
        for line in code {
            let line = line.split(" //@").next().unwrap_or(line);
            println!(
                "{}",
                self.paint(Style::Dim, &format!("   {line}")).trim_end()
            );
        }
    }

    /// What somebody says.
    pub(crate) fn speech(&self, text: &str) {
        for line in text.lines() {
            println!("   {line}");
        }
    }

    /// Why the agent asks.
    pub(crate) fn thought(&self, number: usize, text: &str) {
        println!();
        let mark = format!("{number}. ");
        let indent = " ".repeat(mark.len());
        for (index, line) in wrapped(text, WIDTH - mark.len()).iter().enumerate() {
            let mark = if index == 0 { &mark } else { &indent };
            println!("{}", self.paint(Style::Bold, &format!("{mark}{line}")));
        }
    }

    /// What it asks.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) {
        let arguments = without_folders(&arguments.to_string());
        println!(
            "   {}",
            self.paint(Style::Cyan, &format!("→ {tool} {arguments}"))
        );
    }

    /// What it is told; what it learns from it stands out.
    pub(crate) fn answer(&self, answer: &Answer, learns: &[&str], took: Duration) {
        let text = match &answer.structured {
            Some(structured) if answer.text.is_empty() => format!("{structured:#}"),
            _ => without_folders(&answer.text),
        };
        let style = if answer.is_error {
            Style::Red
        } else {
            Style::Green
        };
        let mut mark = "←";
        for line in text.lines() {
            let style = if learns.iter().any(|word| line.contains(word)) {
                Style::Yellow
            } else {
                style
            };
            println!(
                "   {} {}",
                self.paint(Style::Green, mark),
                self.paint(style, line)
            );
            mark = "│";
        }
        println!(
            "   {}",
            self.paint(Style::Dim, &format!("{} ms", took.as_millis()))
        );
    }

    /// The last line.
    pub(crate) fn end(&self, text: &str) {
        println!("\n{}", self.paint(Style::Green, text));
    }

    fn paint(&self, style: Style, text: &str) -> String {
        paint(self.coloured, style, text)
    }
}

/// Paths of this machine are long and say nothing here.
fn without_folders(text: &str) -> String {
    let root = workspace::root();
    let short = |text: String, folder: &Path| text.replace(&format!("{}/", folder.display()), "");
    let text = match workspace::target() {
        Ok(target) => short(text.to_owned(), target),
        Err(_) => text.to_owned(),
    };
    short(text, root)
}

/// The lines of a text, none longer than `width` unless a word is.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_at_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensible", 7), ["incomprehensible"]);
        assert_eq!(wrapped("", 7), [""]);
    }
}
