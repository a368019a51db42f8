//! Parses the part of MIDL that `cordebug.idl` is written in.
//!
//! Invariant: anything not understood is an error with its line. Skipping an unknown
//! construct could lose a method, and every later slot of that interface with it.

use std::collections::BTreeMap;

use anyhow::{Context, bail, ensure};

/// Everything one IDL file declares, in order.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) aliases: Vec<Decl>,
    pub(super) enums: Vec<Enum>,
    pub(super) structs: Vec<Struct>,
    pub(super) interfaces: Vec<Interface>,
    pub(super) classes: Vec<Class>,
}

#[derive(Debug)]
pub(super) struct Enum {
    pub(super) name: String,
    pub(super) values: Vec<Value>,
}

#[derive(Debug)]
pub(super) struct Value {
    pub(super) name: String,
    pub(super) value: i64,
    /// Whether the source writes bits (`0x10`, `1 << 4`) rather than a count.
    pub(super) is_bits: bool,
}

#[derive(Debug)]
pub(super) struct Struct {
    pub(super) name: String,
    pub(super) fields: Vec<Decl>,
}

#[derive(Debug)]
pub(super) struct Interface {
    pub(super) name: String,
    pub(super) base: String,
    pub(super) uuid: String,
    pub(super) methods: Vec<Method>,
}

#[derive(Debug)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) uuid: String,
}

#[derive(Debug)]
pub(super) struct Method {
    pub(super) name: String,
    pub(super) params: Vec<Decl>,
}

/// A name with a C type: a parameter, a field or a typedef.
#[derive(Debug, Clone)]
pub(super) struct Decl {
    pub(super) name: String,
    /// The words in front of the `*`s, without `const`.
    pub(super) base: String,
    pub(super) is_const: bool,
    /// `*`s and `[]`s.
    pub(super) pointers: usize,
    /// Whether the last pointer was written `[]`.
    pub(super) is_array: bool,
    /// Attribute words such as `in`, `out`, `size_is`.
    pub(super) attributes: Vec<String>,
}

/// Parses a whole file.
pub(super) fn parse(text: &str) -> anyhow::Result<File> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        file: File::default(),
    };
    let mut values = BTreeMap::new();
    while parser.peek().is_some() {
        let line = parser.line();
        parser
            .item(&mut values)
            .with_context(|| format!("line {line}"))?;
    }
    Ok(parser.file)
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// Letters, digits and underscores: names, numbers, parts of GUIDs.
    Word(String),
    Text,
    Sign(char),
}

fn tokens(text: &str) -> anyhow::Result<Vec<(Token, usize)>> {
    let mut found = Vec::new();
    let mut chars = text.char_indices().peekable();
    let mut line = 1;
    while let Some((start, c)) = chars.next() {
        let next = chars.peek().map(|&(_, c)| c);
        match c {
            '\n' => line += 1,
            c if c.is_whitespace() => {}
            '/' if next == Some('/') => while chars.next_if(|&(_, c)| c != '\n').is_some() {},
            '/' if next == Some('*') => {
                chars.next();
                let mut last = ' ';
                loop {
                    let (_, c) = chars.next().context("a comment never ends")?;
                    line += usize::from(c == '\n');
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            '#' => {
                let mut directive = String::new();
                while let Some((_, c)) = chars.next_if(|&(_, c)| c != '\n') {
                    directive.push(c);
                }
                // The one condition in the file is there for the other includers of it.
                let known = [
                    "pragma ",
                    "if !DEFINITIONS_FROM_NON_IMPORTABLE_PLACES",
                    "endif",
                ];
                let is_known = known.iter().any(|k| directive.starts_with(k));
                ensure!(is_known, "line {line}: unknown directive #{directive}");
            }
            '"' => {
                loop {
                    match chars.next().context("a string never ends")?.1 {
                        '\\' => drop(chars.next()),
                        '"' => break,
                        '\n' => bail!("line {line}: a string never ends"),
                        _ => {}
                    }
                }
                found.push((Token::Text, line));
            }
            c if is_word(c) => {
                let mut end = start + c.len_utf8();
                while let Some((at, c)) = chars.next_if(|&(_, c)| is_word(c)) {
                    end = at + c.len_utf8();
                }
                found.push((Token::Word(text[start..end].to_owned()), line));
            }
            c => found.push((Token::Sign(c), line)),
        }
    }
    Ok(found)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    file: File,
}

impl Parser {
    fn item(&mut self, values: &mut BTreeMap<String, i64>) -> anyhow::Result<()> {
        let attributes = self.attributes()?;
        let word = self.word()?;
        match word.as_str() {
            "cpp_quote" | "importlib" => {
                self.sign('(')?;
                self.text()?;
                self.sign(')')?;
                self.skip(';');
            }
            "import" => {
                self.text()?;
                self.sign(';')?;
            }
            "typedef" => self.typedef(values)?,
            "interface" => self.interface(&attributes, values)?,
            "library" => {
                self.word()?;
                self.sign('{')?;
                while !self.skip('}') {
                    self.item(values)?;
                }
                self.skip(';');
            }
            "coclass" => {
                let name = self.word()?;
                self.sign('{')?;
                while !self.skip('}') {
                    self.item(values)?;
                }
                self.skip(';');
                self.file.classes.push(Class {
                    name,
                    uuid: uuid(&attributes)?,
                });
            }
            other => bail!("unknown item `{other}`"),
        }
        Ok(())
    }

    fn typedef(&mut self, values: &mut BTreeMap<String, i64>) -> anyhow::Result<()> {
        self.attributes()?;
        if self.skip_word("enum") {
            self.word()?;
            let members = self.enum_body(values)?;
            let name = self.word()?;
            self.file.enums.push(Enum {
                name,
                values: members,
            });
            self.sign(';')
        } else if self.skip_word("struct") {
            self.word()?;
            self.sign('{')?;
            let mut fields = Vec::new();
            while !self.skip('}') {
                let first = self.decl()?;
                let like = first.clone();
                fields.push(first);
                while self.skip(',') {
                    ensure!(like.pointers == 0, "`{}`: a list of pointers", like.name);
                    fields.push(Decl {
                        name: self.word()?,
                        ..like.clone()
                    });
                }
                self.sign(';')?;
            }
            let name = self.word()?;
            self.file.structs.push(Struct { name, fields });
            self.sign(';')
        } else {
            let alias = self.decl()?;
            self.file.aliases.push(alias);
            self.sign(';')
        }
    }

    fn enum_body(&mut self, values: &mut BTreeMap<String, i64>) -> anyhow::Result<Vec<Value>> {
        self.sign('{')?;
        let mut members = Vec::new();
        let mut next = 0;
        while !self.skip('}') {
            let name = self.word()?;
            let start = self.at;
            let value = if self.skip('=') {
                self.sum(values)?
            } else {
                next
            };
            let written = self.tokens.get(start..self.at).unwrap_or_default();
            let is_bits = written.iter().any(|(token, _)| match token {
                Token::Word(word) => word.starts_with("0x"),
                token => *token == Token::Sign('<'),
            });
            next = value + 1;
            let previous = values.insert(name.clone(), value);
            ensure!(previous.is_none(), "`{name}` has two values");
            members.push(Value {
                name,
                value,
                is_bits,
            });
            if !self.skip(',') {
                self.sign('}')?;
                break;
            }
        }
        Ok(members)
    }

    /// `a + b`, `a << b`: left to right, as no expression in the file mixes them.
    fn sum(&mut self, values: &BTreeMap<String, i64>) -> anyhow::Result<i64> {
        let mut left = self.operand(values)?;
        loop {
            if self.skip('+') {
                left += self.operand(values)?;
            } else if self.skip('<') {
                self.sign('<')?;
                let bits = u32::try_from(self.operand(values)?)?;
                left = left.checked_shl(bits).context("shifts too far")?;
            } else {
                return Ok(left);
            }
        }
    }

    fn operand(&mut self, values: &BTreeMap<String, i64>) -> anyhow::Result<i64> {
        if self.skip('-') {
            return Ok(-self.operand(values)?);
        }
        let word = self.word()?;
        if let Some(hex) = word.strip_prefix("0x") {
            return Ok(i64::from_str_radix(hex, 16)?);
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(word.parse()?);
        }
        values
            .get(&word)
            .copied()
            .with_context(|| format!("`{word}` has no value"))
    }

    fn interface(
        &mut self,
        attributes: &[Vec<Token>],
        values: &mut BTreeMap<String, i64>,
    ) -> anyhow::Result<()> {
        let name = self.word()?;
        if self.skip(';') {
            return Ok(());
        }
        self.sign(':')?;
        let base = self.word()?;
        self.sign('{')?;
        let mut methods = Vec::new();
        while !self.skip('}') {
            if self.skip_word("typedef") {
                self.typedef(values)?;
                continue;
            }
            let returns = self.word()?;
            ensure!(
                returns == "HRESULT",
                "{name} has a method that returns {returns}"
            );
            methods.push(self.method().with_context(|| format!("in {name}"))?);
        }
        self.skip(';');
        let uuid = uuid(attributes).with_context(|| format!("{name} has no uuid"))?;
        self.file.interfaces.push(Interface {
            name,
            base,
            uuid,
            methods,
        });
        Ok(())
    }

    fn method(&mut self) -> anyhow::Result<Method> {
        let name = self.word()?;
        self.sign('(')?;
        let mut params = Vec::new();
        if self.skip_word("void") {
            self.sign(')')?;
        } else if !self.skip(')') {
            loop {
                params.push(self.decl().with_context(|| format!("in {name}"))?);
                if self.skip(')') {
                    break;
                }
                self.sign(',')?;
            }
        }
        self.sign(';')?;
        Ok(Method { name, params })
    }

    /// `[attributes] const Type far **name[]`.
    fn decl(&mut self) -> anyhow::Result<Decl> {
        let mut attributes = Vec::new();
        for group in self.attributes()? {
            if let Some(Token::Word(word)) = group.first() {
                attributes.push(word.clone());
            }
        }
        let is_const = self.skip_word("const");
        let base = self.word()?;
        self.skip_word("far");
        let mut pointers = 0;
        while self.skip('*') {
            pointers += 1;
        }
        let name = self.word()?;
        let is_array = self.skip('[');
        if is_array {
            // A sized array is a value, not a pointer; none exists and none is guessed at.
            self.sign(']')?;
            pointers += 1;
        }
        Ok(Decl {
            name,
            base,
            is_const,
            pointers,
            is_array,
            attributes,
        })
    }

    /// The attributes in any number of `[a, b(c)]` groups, each as its tokens.
    fn attributes(&mut self) -> anyhow::Result<Vec<Vec<Token>>> {
        let mut found = Vec::new();
        while self.skip('[') {
            let mut depth = 0;
            let mut current = Vec::new();
            loop {
                let token = self.next()?;
                match &token {
                    Token::Sign('(') => depth += 1,
                    Token::Sign(')') => depth -= 1,
                    Token::Sign(']') if depth == 0 => break,
                    Token::Sign(',') if depth == 0 => {
                        found.push(std::mem::take(&mut current));
                        continue;
                    }
                    _ => {}
                }
                current.push(token);
            }
            found.push(current);
        }
        Ok(found)
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).map_or(0, |(_, line)| *line)
    }

    fn next(&mut self) -> anyhow::Result<Token> {
        let token = self.peek().cloned().context("the file ends too early")?;
        self.at += 1;
        Ok(token)
    }

    fn word(&mut self) -> anyhow::Result<String> {
        let line = self.line();
        match self.next()? {
            Token::Word(word) => Ok(word),
            other => bail!("line {line}: expected a word, found {other:?}"),
        }
    }

    fn text(&mut self) -> anyhow::Result<()> {
        let line = self.line();
        let token = self.next()?;
        ensure!(
            token == Token::Text,
            "line {line}: expected a string, found {token:?}"
        );
        Ok(())
    }

    fn sign(&mut self, sign: char) -> anyhow::Result<()> {
        let line = self.line();
        let token = self.next()?;
        ensure!(
            token == Token::Sign(sign),
            "line {line}: expected `{sign}`, found {token:?}"
        );
        Ok(())
    }

    fn skip(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(found);
        found
    }

    fn skip_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(next)) if next == word);
        self.at += usize::from(found);
        found
    }
}

/// The lower-case text of `uuid(…)`.
fn uuid(attributes: &[Vec<Token>]) -> anyhow::Result<String> {
    let is_uuid = |group: &&Vec<Token>| group.first() == Some(&Token::Word("uuid".into()));
    let group = attributes.iter().find(is_uuid).context("no uuid")?;
    let mut text = String::new();
    for token in group.iter().skip(1) {
        match token {
            Token::Word(word) => text.push_str(&word.to_lowercase()),
            Token::Sign('-') => text.push('-'),
            _ => {}
        }
    }
    let shape: Vec<usize> = text.split('-').map(str::len).collect();
    ensure!(shape == [8, 4, 4, 4, 12], "`{text}` is not a uuid");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_construct_of_the_file() {
        let file = parse(
            r##"
            #if !DEFINITIONS_FROM_NON_IMPORTABLE_PLACES
            cpp_quote("#if 0 \" ")
            import "unknwn.idl";
            typedef UINT32 mdToken; /* a ; comment */
            typedef const void far *LPCVOID; // another ;
            typedef [wire_marshal(unsigned long)] void *HPROCESS;
            #endif
            #pragma warning(push)
            interface IA;
            typedef enum _E { A, B = -2, C, D = 0x10, F = 1<<3, G = F + 1, } E;
            [object, local, uuid(FE06DC28-49FB-4636-A4A3-E80DB4AE116C), pointer_default(unique)]
            interface IA : IUnknown
            {
                typedef struct _S { ULONG32 start, end; IA *object; } S;
                HRESULT None();
                HRESULT Void(void);
                HRESULT Some([in, annotation("_In_, ]")] const BYTE *p,
                             [out][iid_is(riid)] void **q,
                             [out, size_is(n), length_is(*r)] IA *objects[]);
            }
            [uuid(53D13620-F417-11d1-9762-A63826A4F255), version(1.0)]
            library L
            {
                importlib("stdole32.tlb");
                [uuid(6fef44d0-39e7-4c77-be8e-c9f8cf988630)]
                coclass K { [default] interface IA; };
            };
            "##,
        )
        .expect("parses");
        let values = |e: &Enum| e.values.iter().map(|v| v.value).collect::<Vec<_>>();
        assert_eq!(
            file.enums.iter().map(values).collect::<Vec<_>>(),
            [[0, -2, -1, 16, 8, 9]]
        );
        let fields = |s: &Struct| s.fields.iter().map(|f| f.name.clone()).collect::<Vec<_>>();
        assert_eq!(
            file.structs.iter().map(fields).collect::<Vec<_>>(),
            [["start", "end", "object"]]
        );
        let aliases: Vec<_> = file
            .aliases
            .iter()
            .map(|a| (a.name.as_str(), a.is_const, a.pointers))
            .collect();
        let expected = [
            ("mdToken", false, 0),
            ("LPCVOID", true, 1),
            ("HPROCESS", false, 1),
        ];
        assert_eq!(aliases, expected);
        let [interface] = file.interfaces.as_slice() else {
            panic!("one interface")
        };
        assert_eq!(interface.uuid, "fe06dc28-49fb-4636-a4a3-e80db4ae116c");
        let params = |m: &Method| m.params.iter().map(|p| p.pointers).collect::<Vec<_>>();
        let methods: Vec<_> = interface.methods.iter().map(params).collect();
        assert_eq!(methods, [vec![], vec![], vec![1, 2, 2]]);
        assert_eq!(
            file.classes
                .iter()
                .map(|c| c.name.as_str())
                .collect::<Vec<_>>(),
            ["K"]
        );
    }

    #[track_caller]
    fn check_refused(text: &str, expected: &str) {
        let error = format!("{:#}", parse(text).expect_err("is refused"));
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        check_refused("#if OTHER", "unknown directive");
        check_refused("\nunion U { int a; };", "line 2: unknown item `union`");
        check_refused("typedef struct S { BYTE b[4]; } S;", "expected `]`");
        check_refused("typedef enum E { A, A } E;", "two values");
        check_refused("typedef enum E { A = X } E;", "`X` has no value");
        check_refused("interface I : IUnknown { void F(); };", "returns void");
        check_refused("interface I : IUnknown { };", "no uuid");
        check_refused("interface I : IUnknown { HRESULT F(", "ends too early");
    }
}
