//! Anonymous types that the program does not have: an expression may make objects of any shape, which exist only in the debugger.
//!
//! The compiler would add a class to the program for each list of member names, generic over the types of the members. Here
//! the metadata of such a class is written instead, so that everything that asks about types (members, text, overloads,
//! inference) has the same answers as for those of the program. What the runtime is asked for such a type is refused as
//! [`TypeError::OnlyHere`].

use std::cell::OnceCell;

use metadata::Token;

use super::{Kind, ModuleId, Named, Result, Type, TypeError, Types};

/// Shapes kept for one program; each is a few hundred bytes.
const MAX_SHAPES: usize = 1_000;
/// Members of one object.
const MAX_MEMBERS: usize = 250;
/// Indices of heaps are written in two bytes.
const MAX_HEAP: usize = 0xffff;
/// The class behind `<Module>`.
const CLASS: Token = Token(0x0200_0002);

/// The shapes that were asked for, each found by its number. None ever goes: types name them.
#[derive(Debug, Default)]
pub(super) struct Shapes(OnceCell<Box<Shape>>);

#[derive(Debug)]
struct Shape {
    names: Vec<Box<str>>,
    module: metadata::Module,
    next: Shapes,
}

impl Shapes {
    fn get(&self, number: usize) -> Option<&metadata::Module> {
        let mut at = self;
        for _ in 0..number {
            at = &at.0.get()?.next;
        }
        at.0.get().map(|it| &it.module)
    }

    /// The number of the shape with these members; `None` if there are too many.
    fn number(&self, names: &[&str]) -> Option<usize> {
        let mut at = self;
        for number in 0..MAX_SHAPES {
            let Some(shape) = at.0.get() else {
                let module = metadata::Module::open_bare(&class_of(names)?).ok()?;
                let names = names.iter().map(|it| Box::from(*it)).collect();
                let next = Shapes::default();
                let made = Box::new(Shape {
                    names,
                    module,
                    next,
                });
                return at.0.set(made).is_ok().then_some(number);
            };
            if shape.names.iter().map(|it| &**it).eq(names.iter().copied()) {
                return Some(number);
            }
            at = &shape.next;
        }
        None
    }
}

impl<'t> Types<'t> {
    /// The anonymous type with members of these names and types, which exists only here.
    pub(crate) fn anonymous(self, names: &[&str], types: Vec<Type>) -> Option<Type> {
        let number = self.cache.shapes.number(names)?;
        Some(Type::Named(
            Named {
                module: ModuleId(usize::MAX - number),
                token: CLASS,
                kind: Kind::Class,
                arguments: types.into(),
            }
            .into(),
        ))
    }

    /// Whether a module is the one of a shape, which the runtime knows nothing of.
    pub(crate) fn is_shape(self, id: ModuleId) -> bool {
        usize::MAX - id.0 < MAX_SHAPES
    }

    pub(super) fn shape(self, id: ModuleId) -> Result<&'t metadata::Module> {
        let found = self.cache.shapes.get(usize::MAX - id.0);
        found.ok_or(TypeError::ModuleGone)
    }
}

/// The metadata of a class with read-only properties of these names, each of the type that its own parameter stands for
/// (ECMA-335 II.24).
fn class_of(names: &[&str]) -> Option<Vec<u8>> {
    if names.len() > MAX_MEMBERS {
        return None;
    }
    let count = names.len() as u16;
    let mut heaps = Heaps::default();
    let mark = match names {
        [] => String::new(),
        _ => format!("`{}", names.len()),
    };
    let class = heaps.text(&format!("<>f__AnonymousType{mark}"));
    let (nothing, module) = (heaps.text("<Module>"), heaps.text("anonymous"));
    let (object, system) = (heaps.text("Object"), heaps.text("System"));
    let core = heaps.text("System.Private.CoreLib");

    let mut fields = Vec::new();
    let mut getters = Vec::new();
    let mut properties = Vec::new();
    let mut semantics = Vec::new();
    let mut parameters = Vec::new();
    for (index, name) in (0_u16..).zip(names) {
        // Compressed numbers below 0x80 are one byte, others two.
        let number = match u8::try_from(index) {
            Ok(small) if small < 0x80 => vec![small],
            _ => (index | 0x8000).to_be_bytes().to_vec(),
        };
        let variable = [&[0x13][..], &number].concat();
        let field = heaps.text(&format!("<{name}>i__Field"));
        let holds = heaps.blob(&[&[0x06][..], &variable].concat());
        fields.extend(row(&[0x0021, field, holds]));
        let getter = heaps.text(&format!("get_{name}"));
        let gets = heaps.blob(&[&[0x20, 0x00][..], &variable].concat());
        getters.extend(row(&[0, 0, 0, 0x0886, getter, gets, 1]));
        let property = heaps.text(name);
        let is = heaps.blob(&[&[0x28, 0x00][..], &variable].concat());
        properties.extend(row(&[0, property, is]));
        semantics.extend(row(&[0x0002, index + 1, (index + 1) << 1 | 1]));
        let parameter = heaps.text(&format!("<{name}>j__TPar"));
        parameters.extend(row(&[index, 0, 2 << 1, parameter]));
    }
    if heaps.texts.len() > MAX_HEAP || heaps.blobs.len() > MAX_HEAP {
        return None;
    }
    // Classes: flags in two halves, name, namespace, base, first field, first method.
    let mut classes = row(&[0, 0, nothing, 0, 0, 1, 1]);
    classes.extend(row(&[0x0101, 0x0010, class, 0, 1 << 2 | 1, 1, 1]));
    let tables: [(u32, u32, Vec<u8>); 10] = [
        (0x00, 1, row(&[0, module, 1, 0, 0])),
        (0x01, 1, row(&[1 << 2 | 2, object, system])),
        (0x02, 2, classes),
        (0x04, count.into(), fields),
        (0x06, count.into(), getters),
        (0x15, 1, row(&[2, 1])),
        (0x17, count.into(), properties),
        (0x18, count.into(), semantics),
        (0x23, 1, row(&[0, 0, 0, 0, 0, 0, 0, core, 0, 0])),
        (0x2a, count.into(), parameters),
    ];
    Some(root(&tables, heaps))
}

/// A row whose columns are all two bytes wide, or halves of wider ones.
fn row(columns: &[u16]) -> Vec<u8> {
    columns.iter().flat_map(|it| it.to_le_bytes()).collect()
}

struct Heaps {
    texts: Vec<u8>,
    blobs: Vec<u8>,
}

/// Both begin with what is empty.
impl Default for Heaps {
    fn default() -> Self {
        Self {
            texts: vec![0],
            blobs: vec![0],
        }
    }
}

impl Heaps {
    fn text(&mut self, text: &str) -> u16 {
        let at = self.texts.len() as u16;
        self.texts.extend(text.as_bytes());
        self.texts.push(0);
        at
    }

    fn blob(&mut self, blob: &[u8]) -> u16 {
        let at = self.blobs.len() as u16;
        self.blobs.push(blob.len() as u8);
        self.blobs.extend(blob);
        at
    }
}

/// The streams behind their headers (II.24.2).
fn root(tables: &[(u32, u32, Vec<u8>)], heaps: Heaps) -> Vec<u8> {
    let mut stream = vec![0, 0, 0, 0, 2, 0, 0, 1];
    let tables = tables.iter().filter(|(_, rows, _)| *rows > 0);
    let valid = tables.clone().fold(0_u64, |all, it| all | 1 << it.0);
    stream.extend(valid.to_le_bytes());
    stream.extend(0x1600_3301_fa00_u64.to_le_bytes());
    tables
        .clone()
        .for_each(|it| stream.extend(it.1.to_le_bytes()));
    tables.for_each(|it| stream.extend(&it.2));

    let streams: [(&[u8], Vec<u8>); 4] = [
        (b"#~\0\0", stream),
        (b"#Strings\0\0\0\0", heaps.texts),
        (b"#GUID\0\0\0", vec![0; 16]),
        (b"#Blob\0\0\0", heaps.blobs),
    ];
    let mut bytes = b"BSJB\x01\0\x01\0\0\0\0\0\x0c\0\0\0v4.0.30319\0\0\0\0\x04\0".to_vec();
    let headers: usize = streams.iter().map(|(name, _)| 8 + name.len()).sum();
    let mut at = bytes.len() + headers;
    let mut contents = Vec::new();
    for (name, mut content) in streams {
        content.resize(content.len().next_multiple_of(4), 0);
        bytes.extend((at as u32).to_le_bytes());
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend(name);
        at += content.len();
        contents.extend(content);
    }
    bytes.extend(contents);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str]) {
        let shapes = Shapes::default();
        let number = shapes.number(names).expect("a shape");
        let module = shapes.get(number).expect("its metadata");
        let class = module.metadata().type_def(CLASS).expect("the class");
        let properties: Vec<String> = class
            .properties()
            .map(|it| it.expect("a property").name().expect("a name").into_owned())
            .collect();
        assert_eq!(properties, names);
        assert_eq!(class.generic_params().count(), names.len());
        for (method, name) in class.methods().zip(names) {
            let method = method.expect("a getter");
            assert_eq!(method.name().expect("a name"), format!("get_{name}"));
            method.signature().expect("a signature");
        }
        for property in class.properties() {
            let accessors = property.expect("a property").accessors();
            assert!(accessors.expect("accessors").getter.is_some());
        }
        assert_eq!(shapes.number(names), Some(number), "it is found again");
        assert_ne!(shapes.number(&["other"]), Some(number));
    }

    #[test]
    fn shapes_are_classes_with_the_members_that_were_asked_for() {
        check(&[]);
        check(&["A"]);
        check(&["Id", "größe", "w"]);
        let many: Vec<String> = (0..200).map(|it| format!("Member{it}")).collect();
        check(&many.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[test]
    fn what_has_too_many_members_is_refused() {
        let many: Vec<String> = (0..1000).map(|it| format!("Member{it}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(Shapes::default().number(&many), None);
        let long = "x".repeat(70_000);
        assert_eq!(Shapes::default().number(&[&long]), None);
    }
}
