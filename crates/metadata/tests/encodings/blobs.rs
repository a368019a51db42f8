//! Numbers, signatures, sequence points and attributes: written, then read.

use metadata::attributes::{Argument, ArgumentType, Value};
use metadata::csharp::{Annotations, GenericNames, Style};
use metadata::model::ConstantValue;
use metadata::pdb::{SequencePoint, SequencePoints, Span};
use metadata::signature::{self, ArrayShape, CallingConvention, MethodSignature, Primitive, Type};
use metadata::tables::Table;
use metadata::{Cursor, IlOffset, Token};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::builder::{Builder, compressed, compressed_signed, write_method, write_type};

fn token() -> impl Strategy<Value = Token> {
    let table = prop_oneof![
        Just(Table::TypeDef),
        Just(Table::TypeRef),
        Just(Table::TypeSpec)
    ];
    (table, 1_u32..0x4000).prop_map(|(table, row)| Token::new(table, row))
}

fn primitive() -> impl Strategy<Value = Primitive> {
    proptest::sample::select(Primitive::ALL.map(|(primitive, ..)| primitive).to_vec())
}

fn shape() -> impl Strategy<Value = ArrayShape> {
    (1_u32..8).prop_flat_map(|rank| {
        let sizes = vec(0_u32..0x1000_0000, 0..=rank as usize);
        let bounds = vec(-0x1000_0000..0x1000_0000_i32, 0..=rank as usize);
        (sizes, bounds).prop_map(move |(sizes, lower_bounds)| ArrayShape {
            rank,
            sizes,
            lower_bounds,
        })
    })
}

fn ty() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        primitive().prop_map(Type::Primitive),
        (token(), any::<bool>()).prop_map(|(token, is_value)| Type::Named { token, is_value }),
        (0_u32..300).prop_map(Type::TypeParameter),
        (0_u32..300).prop_map(Type::MethodParameter),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            boxed().prop_map(Type::SzArray),
            boxed().prop_map(Type::Pointer),
            boxed().prop_map(Type::ByRef),
            boxed().prop_map(Type::Pinned),
            (boxed(), shape()).prop_map(|(element, shape)| Type::Array { element, shape }),
            (token(), any::<bool>(), vec(inner.clone(), 1..5)).prop_map(
                |(token, is_value, arguments)| Type::Generic {
                    token,
                    is_value,
                    arguments
                }
            ),
            (any::<bool>(), token(), boxed()).prop_map(|(required, modifier, inner)| {
                Type::Modified {
                    required,
                    modifier,
                    inner,
                }
            }),
            method(inner.clone()).prop_map(|it| Type::Function(Box::new(it))),
        ]
    })
}

fn method(
    types: impl Strategy<Value = Type> + Clone + 'static,
) -> impl Strategy<Value = MethodSignature> {
    let convention = proptest::sample::select(vec![0x00_u8, 0x05, 0x10, 0x20, 0x30, 0x60, 0x09]);
    let parts = (
        convention,
        1_u32..20,
        types.clone(),
        vec(types, 0..5),
        any::<proptest::sample::Index>(),
    );
    parts.prop_map(|(convention, arity, return_type, parameters, sentinel)| {
        let convention = CallingConvention(convention);
        // Only vararg calls have a sentinel, which is not written behind the last parameter.
        let is_vararg = convention.kind() == 5 && !parameters.is_empty();
        MethodSignature {
            convention,
            generic_arity: if convention.is_generic() { arity } else { 0 },
            return_type,
            required_parameters: if is_vararg {
                sentinel.index(parameters.len())
            } else {
                parameters.len()
            },
            parameters,
        }
    })
}

/// Start line and column, number of lines, and width or end column.
type Extent = (u32, u32, u32, u32);

/// Points of one method: offsets rise, documents change now and then.
fn points() -> impl Strategy<Value = Vec<SequencePoint>> {
    let span = (1_u32..0x10_0000, 1_u32..0x4000, 0_u32..5, 1_u32..0x4000);
    let one = (1_u32..300, 1_u32..4, proptest::option::weighted(0.8, span));
    vec(one, 0..40).prop_map(|points| {
        let mut offset = 0;
        let point = |(delta, document, span): (u32, u32, Option<Extent>)| {
            offset += delta;
            let span = span.map(|(start_line, start_column, n_lines, width)| Span {
                start_line,
                start_column,
                end_line: start_line + n_lines,
                end_column: if n_lines == 0 {
                    start_column + width
                } else {
                    width
                },
            });
            SequencePoint {
                offset: IlOffset(offset),
                document: Token::new(Table::Document, document),
                span,
            }
        };
        points.into_iter().map(point).collect()
    })
}

/// Writes the blob of the Portable PDB specification; the method's row has no document.
fn write_points(points: &[SequencePoint]) -> Vec<u8> {
    let mut out = vec![5];
    let mut document = points.first().map_or(1, |it| it.document.row());
    compressed(&mut out, document);
    let (mut offset, mut previous) = (None, None);
    for point in points {
        if point.document.row() != document {
            document = point.document.row();
            out.push(0);
            compressed(&mut out, document);
        }
        compressed(&mut out, point.offset.0 - offset.unwrap_or_default());
        offset = Some(point.offset.0);
        let Some(span) = point.span else {
            out.extend([0, 0]);
            continue;
        };
        let n_lines = span.end_line - span.start_line;
        compressed(&mut out, n_lines);
        let n_columns = span.end_column as i32 - span.start_column as i32;
        if n_lines == 0 {
            compressed(&mut out, n_columns as u32);
        } else {
            compressed_signed(&mut out, n_columns);
        }
        match previous {
            None => {
                compressed(&mut out, span.start_line);
                compressed(&mut out, span.start_column);
            }
            Some((line, column)) => {
                compressed_signed(&mut out, span.start_line as i32 - line);
                compressed_signed(&mut out, span.start_column as i32 - column);
            }
        }
        previous = Some((span.start_line as i32, span.start_column as i32));
    }
    out
}

/// An argument with the type of its parameter, both as written.
fn argument() -> impl Strategy<Value = (Vec<u8>, Vec<u8>, Argument<'static>)> {
    let text = proptest::option::of("[a-zé😀]{0,200}");
    let scalar = |primitive: Primitive, bytes: Vec<u8>, value| {
        let ty = ArgumentType::Primitive(primitive);
        (
            vec![primitive as u8],
            bytes,
            Argument {
                ty,
                value: Value::Scalar(value),
            },
        )
    };
    prop_oneof![
        any::<bool>().prop_map(move |it| scalar(
            Primitive::Bool,
            vec![it.into()],
            ConstantValue::Bool(it)
        )),
        any::<i8>().prop_map(move |it| scalar(
            Primitive::I1,
            it.to_le_bytes().into(),
            ConstantValue::I1(it)
        )),
        any::<u16>().prop_map(move |it| scalar(
            Primitive::Char,
            it.to_le_bytes().into(),
            ConstantValue::Char(it)
        )),
        any::<i32>().prop_map(move |it| scalar(
            Primitive::I4,
            it.to_le_bytes().into(),
            ConstantValue::I4(it)
        )),
        any::<u64>().prop_map(move |it| scalar(
            Primitive::U8,
            it.to_le_bytes().into(),
            ConstantValue::U8(it)
        )),
        text.prop_map(|text| {
            let mut bytes = Vec::new();
            match &text {
                None => bytes.push(0xff),
                Some(text) => {
                    compressed(&mut bytes, text.len() as u32);
                    bytes.extend(text.as_bytes());
                }
            }
            let ty = ArgumentType::Primitive(Primitive::String);
            (
                vec![0x0e],
                bytes,
                Argument {
                    ty,
                    value: Value::Text(text.map(Into::into)),
                },
            )
        }),
        vec(any::<u8>(), 0..20).prop_map(|elements| {
            let mut bytes = (elements.len() as u32).to_le_bytes().to_vec();
            bytes.extend(&elements);
            let element = ArgumentType::Primitive(Primitive::U1);
            let of = |it| Argument {
                ty: element.clone(),
                value: Value::Scalar(ConstantValue::U1(it)),
            };
            let value = Value::Array(Some(elements.into_iter().map(of).collect()));
            (
                vec![0x1d, 0x05],
                bytes,
                Argument {
                    ty: ArgumentType::Array(Box::new(element.clone())),
                    value,
                },
            )
        }),
        // The same number as an object: its type stands in the blob.
        any::<i16>().prop_map(|it| {
            let mut bytes = vec![0x06];
            bytes.extend(it.to_le_bytes());
            let value = Value::Scalar(ConstantValue::I2(it));
            (
                vec![0x1c],
                bytes,
                Argument {
                    ty: ArgumentType::Primitive(Primitive::I2),
                    value,
                },
            )
        }),
    ]
}

proptest! {
    #[test]
    fn compressed_numbers(unsigned in 0_u32..0x2000_0000, signed in -0x1000_0000_i32..0x1000_0000) {
        let mut bytes = Vec::new();
        compressed(&mut bytes, unsigned);
        compressed_signed(&mut bytes, signed);
        let mut cursor = Cursor::new(&bytes, "numbers");
        prop_assert_eq!(cursor.compressed_u32(), Ok(unsigned));
        prop_assert_eq!(cursor.compressed_i32(), Ok(signed));
        prop_assert!(cursor.is_empty());
    }

    #[test]
    fn types(ty in ty()) {
        let mut blob = Vec::new();
        write_type(&mut blob, &ty);
        prop_assert_eq!(signature::type_spec(&blob), Ok(ty.clone()));
        blob.insert(0, 0x06);
        prop_assert_eq!(signature::field_type(&blob), Ok(ty.clone()));
        Builder::default().read(|metadata| {
            metadata.type_text(&ty, &GenericNames::default(), &Annotations::default(), Style::default())
        });
    }

    #[test]
    fn methods(method in method(ty().boxed())) {
        let mut blob = Vec::new();
        write_method(&mut blob, &method);
        prop_assert_eq!(signature::method_signature(&blob), Ok(method.clone()));
        // A cut-off signature is an error, never a shorter signature.
        for length in 0..blob.len() {
            prop_assert!(signature::method_signature(&blob[..length]).is_err());
        }
    }

    #[test]
    fn sequence_points(points in points()) {
        let blob = write_points(&points);
        let decoded = SequencePoints::new(&blob, Token::new(Table::Document, 0)).expect("a header");
        prop_assert_eq!(decoded.local_signature(), Token::new(Table::StandAloneSig, 5));
        let decoded: Vec<_> = decoded.collect::<Result<_, _>>().expect("points");
        prop_assert_eq!(decoded, points);
    }

    #[test]
    fn all_points_of_a_pdb(methods in vec((points(), any::<bool>()), 0..20), padding in 0_usize..12) {
        let mut builder = Builder::pdb(&[(Table::Method, 100)]);
        builder.row(Table::Document, &[0, 0, 0, 0]);
        let mut expected = Vec::new();
        for ((mut points, one_document), row) in methods.into_iter().zip(1..) {
            let mut blob = write_points(&points);
            let mut document = 0;
            if one_document {
                // The document stands in the row instead of the blob.
                document = 2;
                points.iter_mut().for_each(|it| it.document = Token::new(Table::Document, document));
                blob = write_points(&points);
                blob.remove(1);
            }
            let blob = builder.blob(&blob);
            builder.row(Table::MethodDebugInformation, &[document, blob]);
            expected.extend(points.into_iter().map(|point| (Token::new(Table::Method, row), point)));
        }
        builder.blob(&vec![0xff; padding]);
        let symbols = metadata::Symbols::open(builder.build()).expect("a PDB");
        let mut all = Vec::new();
        let outcome = symbols.pdb().for_each_point(|method, point| all.push((method, point)));
        prop_assert_eq!(outcome, Ok(()));
        prop_assert_eq!(all, expected);
    }

    #[test]
    fn attribute_arguments(arguments in vec(argument(), 0..6), named in proptest::option::of(argument())) {
        let mut constructor = vec![0x20, arguments.len() as u8, 0x01];
        let mut value = vec![1, 0];
        for (ty, bytes, _) in &arguments {
            constructor.extend(ty);
            value.extend(bytes);
        }
        value.extend([u8::from(named.is_some()), 0]);
        if let Some((ty, bytes, _)) = &named {
            value.push(0x54);
            value.extend(ty.iter().map(|&code| if code == 0x1c { 0x51 } else { code }));
            value.extend([4, b'N', b'a', b'm', b'e']);
            value.extend(bytes);
        }
        let mut builder = Builder::default();
        let (signature, value) = (builder.blob(&constructor), builder.blob(&value));
        let name = builder.string("SomeAttribute");
        builder.row(Table::TypeRef, &[0, name, 0]);
        builder.row(Table::MemberRef, &[1 << 3 | 1, 0, signature]);
        builder.row(Table::CustomAttribute, &[1 << 5 | 7, 1 << 3 | 3, value]);
        builder.read(|metadata| {
            let owner = Token::new(Table::Module, 1);
            let attribute = metadata.find_attribute(owner, "", "SomeAttribute").expect("the attribute");
            let decoded = attribute.arguments().expect("arguments");
            let expected: Vec<_> = arguments.into_iter().map(|(_, _, argument)| argument).collect();
            assert_eq!(decoded.fixed, expected);
            assert_eq!(decoded.named("Name").cloned(), named.map(|(_, _, argument)| argument));
        });
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = (signature::standalone(&bytes), signature::property_signature(&bytes));
        let _ = (signature::local_types(&bytes), signature::method_spec_arguments(&bytes));
        let points = SequencePoints::new(&bytes, Token::default());
        prop_assert!(points.map_or(0, Iterator::count) <= bytes.len());
        let _ = metadata::pdb::SourceLink::parse(&bytes);
        let _ = metadata::csharp::GeneratedName::parse(&String::from_utf8_lossy(&bytes));
        prop_assert!(metadata::Module::open(bytes.clone()).is_err());
        prop_assert!(metadata::Symbols::open(bytes).is_err());
    }
}
