//! Random trees for the round trip.
//!
//! They are not all that the types allow: only what C# has a text for. Where two readings of a text are
//! possible, such as for `a < b > (c)`, an operand is put in parentheses or in `checked(…)`.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use syntax::Span;
use syntax::tree::*;

/// A strategy that can be cloned.
type S<T> = BoxedStrategy<T>;

fn at(kind: ExprKind) -> Expr {
    Expr {
        kind,
        span: Span::default(),
    }
}

fn ty_at(kind: TypeKind) -> Type {
    Type {
        kind,
        span: Span::default(),
    }
}

fn pattern_at(kind: PatternKind) -> Pattern {
    Pattern {
        kind,
        span: Span::default(),
    }
}

fn paren(expr: Expr) -> Expr {
    at(ExprKind::Paren(Box::new(expr)))
}

/// Names, some of which are keywords somewhere.
fn identifier() -> S<Identifier> {
    let names = prop::sample::select(vec![
        "a", "b", "Foo", "Bar", "_x", "value", "été", "T", "nint",
    ]);
    let verbatim = prop::sample::select(vec!["class", "if", "await", "var", "from", "and", "_"]);
    prop_oneof![
        8 => names.prop_map(|text| (text, false)),
        1 => verbatim.prop_map(|text| (text, true)),
    ]
    .prop_map(|(text, verbatim)| Identifier {
        text: text.into(),
        verbatim,
        span: Span::default(),
    })
    .boxed()
}

fn word(text: &str) -> Identifier {
    Identifier {
        text: text.into(),
        verbatim: false,
        span: Span::default(),
    }
}

fn simple(identifier: Identifier) -> SimpleName {
    SimpleName {
        identifier,
        arguments: None,
        span: Span::default(),
    }
}

fn simple_name(ty: S<Type>) -> S<SimpleName> {
    let arguments = prop_oneof![
        6 => Just(None),
        2 => vec(ty, 1..3).prop_map(|types| Some(Box::new(TypeArguments::Types(types)))),
    ];
    (identifier(), arguments)
        .prop_map(|(identifier, arguments)| SimpleName {
            identifier,
            arguments,
            span: Span::default(),
        })
        .boxed()
}

fn ty() -> S<Type> {
    let predefined: Vec<_> = Predefined::ALL
        .into_iter()
        .filter(|it| *it != Predefined::Void)
        .collect();
    let leaf = prop_oneof![
        prop::sample::select(predefined).prop_map(TypeKind::Predefined),
        vec(identifier().prop_map(simple), 1..3).prop_map(|parts| TypeKind::Name(QualifiedName {
            alias: None,
            parts,
            span: Span::default(),
        })),
    ];
    leaf.prop_map(ty_at)
        .prop_recursive(3, 12, 3, |inner| {
            let alias = option::of(Just(Box::new(word("global"))));
            let not_wrapped = inner.clone().prop_filter("`T??` is no type", |it| {
                !matches!(it.kind, TypeKind::Nullable(_) | TypeKind::Pointer(_))
            });
            let element = (inner.clone(), option::of(identifier()))
                .prop_map(|(ty, name)| TupleTypeElement { ty, name });
            let modifier = prop::sample::select(vec![
                None,
                Some(ParameterModifier::Ref),
                Some(ParameterModifier::RefReadonly),
                Some(ParameterModifier::Out),
                Some(ParameterModifier::In),
            ]);
            let parameter = (modifier, inner.clone())
                .prop_map(|(modifier, ty)| FunctionPointerParameter { modifier, ty });
            prop_oneof![
                3 => (alias, vec(simple_name(inner.clone()), 1..3)).prop_map(|(alias, parts)| {
                    TypeKind::Name(QualifiedName { alias, parts, span: Span::default() })
                }),
                2 => not_wrapped.prop_map(|it| TypeKind::Nullable(Box::new(it))),
                2 => (inner.clone(), 1..4_u32)
                    .prop_map(|(it, rank)| TypeKind::Array { element: Box::new(it), rank }),
                1 => inner
                    .clone()
                    .prop_filter("`T?*` is not read after `as`", |it| {
                        !matches!(it.kind, TypeKind::Array { .. } | TypeKind::Nullable(_))
                    })
                    .prop_map(|it| TypeKind::Pointer(Box::new(it))),
                2 => vec(element, 2..4).prop_map(TypeKind::Tuple),
                1 => vec(parameter, 1..3).prop_map(|parameters| {
                    TypeKind::FunctionPointer(Box::new(FunctionPointer {
                        convention: None,
                        unmanaged: Vec::new(),
                        parameters,
                    }))
                }),
            ]
            .prop_map(ty_at)
        })
        .boxed()
}

fn text() -> S<Utf16String> {
    let unit = prop_oneof![
        4 => 0x20..0x7f_u16,
        1 => prop::sample::select(vec![0x22, 0x27, 0x5c, 0x7b, 0x7d, 0xa, 0xd, 0, 0x2028, 0xd800]),
        1 => any::<u16>(),
    ];
    vec(unit, 0..8).prop_map(Utf16String::from).boxed()
}

fn literal() -> S<Literal> {
    use IntegerForm::{Binary, Hex};
    use IntegerSuffix::{Long, None as NoSuffix, Unsigned, UnsignedLong};

    let form = prop::sample::select(vec![IntegerForm::Decimal, Hex, Binary]);
    let suffix = prop::sample::select(vec![NoSuffix, Unsigned, Long, UnsignedLong]);
    let value = prop_oneof![0..10_u64, Just(1 << 31), Just(1 << 63), any::<u64>()];
    prop_oneof![
        Just(Literal::Null),
        any::<bool>().prop_map(Literal::Bool),
        (value, form, suffix).prop_map(|(value, form, suffix)| {
            Literal::Integer(IntegerLiteral {
                value,
                form,
                suffix,
            })
        }),
        any::<f64>().prop_map(|it| Literal::Double(if it.is_finite() { it.abs() } else { 0.5 })),
        any::<f32>().prop_map(|it| Literal::Float(if it.is_finite() { it.abs() } else { 0.5 })),
        (0..=Decimal::MAX_MANTISSA, 0..=Decimal::MAX_SCALE)
            .prop_map(|(m, scale)| Literal::Decimal(Decimal::new(m, scale).expect("in range"))),
        any::<u16>().prop_map(Literal::Char),
        text().prop_map(Literal::String),
        "\\PC{0,4}".prop_map(|it| Literal::Utf8(it.into_bytes().into())),
    ]
    .boxed()
}

/// What can stand before `.` and `(` as it is, and is not a name in parentheses, which would be a cast.
fn is_simple_target(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Paren(inner) => !matches!(
            inner.kind,
            ExprKind::Paren(_) | ExprKind::Tuple(_) | ExprKind::Name(_) | ExprKind::Member { .. }
        ),
        ExprKind::DefaultLiteral => false,
        _ => true,
    }
}

fn arguments(expr: S<Expr>) -> S<Vec<Argument>> {
    let plain = (option::of(identifier()), expr).prop_map(|(name, value)| Argument {
        name,
        modifier: None,
        value,
    });
    let out = (ty(), designation()).prop_filter_map("one variable", |(ty, designation)| {
        let value = match designation {
            Designation::Tuple(..) => return None,
            other => at(ExprKind::Declaration(Box::new(ty), other)),
        };
        Some(Argument {
            name: None,
            modifier: Some(ArgumentModifier::Out),
            value,
        })
    });
    let by_ref = identifier().prop_map(|name| Argument {
        name: None,
        modifier: Some(ArgumentModifier::Ref),
        value: at(ExprKind::Name(simple(name))),
    });
    vec(prop_oneof![6 => plain, 1 => out, 1 => by_ref], 0..3).boxed()
}

fn designation() -> S<Designation> {
    let leaf = prop_oneof![
        Just(Designation::Discard(Span::default())),
        identifier().prop_map(Designation::Single),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        vec(inner, 2..4).prop_map(|variables| Designation::Tuple(variables, Span::default()))
    })
    .boxed()
}

/// Patterns over constants that need no parentheses.
fn pattern(expr: S<Expr>) -> S<Pattern> {
    let plain_ty = ty().prop_filter("no nullable, pointer or tuple tests", |ty| {
        matches!(&ty.kind, TypeKind::Name(name) if name.as_word().is_none_or(|it| !it.is_word("_")))
            || matches!(ty.kind, TypeKind::Predefined(_))
    });
    let single = identifier().prop_map(Designation::Single);
    let path = vec(identifier(), 1..3);
    let relational = prop::sample::select(vec![
        RelationalOp::Less,
        RelationalOp::LessOrEqual,
        RelationalOp::Greater,
        RelationalOp::GreaterOrEqual,
    ]);
    let leaf = prop_oneof![
        Just(PatternKind::Discard),
        literal().prop_map(|it| PatternKind::Constant(Box::new(at(ExprKind::Literal(it))))),
        identifier().prop_filter_map("`_` is a discard", |it| {
            let name = at(ExprKind::Name(simple(it)));
            Some(PatternKind::TypeOrConstant(Box::new(name)))
        }),
        (plain_ty.clone(), single.clone())
            .prop_map(|(ty, name)| PatternKind::Declaration(Box::new(ty), name)),
        designation().prop_map(PatternKind::Var),
        (relational, expr).prop_map(|(op, it)| PatternKind::Relational(op, Box::new(paren(it)))),
    ]
    .prop_map(pattern_at);
    leaf.prop_recursive(3, 16, 3, move |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let named =
            (path.clone(), inner.clone()).prop_map(|(path, pattern)| Subpattern { path, pattern });
        let unnamed = inner.clone().prop_map(|pattern| Subpattern {
            path: Vec::new(),
            pattern,
        });
        let recursive = (
            option::of(plain_ty.clone()),
            option::of(vec(unnamed, 2..4)),
            vec(named, 0..3),
            option::of(single.clone()),
        );
        let slice = option::of(boxed.clone()).prop_map(|it| pattern_at(PatternKind::Slice(it)));
        prop_oneof![
            (boxed.clone(), boxed.clone()).prop_map(|(a, b)| PatternKind::And(a, b)),
            (boxed.clone(), boxed.clone()).prop_map(|(a, b)| PatternKind::Or(a, b)),
            boxed.prop_map(PatternKind::Not),
            recursive.prop_map(|(ty, positional, properties, designation)| {
                PatternKind::Recursive(Box::new(RecursivePattern {
                    ty,
                    positional,
                    properties: Some(properties),
                    designation,
                }))
            }),
            (
                vec(prop_oneof![3 => inner, 1 => slice], 0..4),
                option::of(single.clone())
            )
                .prop_map(|(patterns, designation)| PatternKind::List {
                    patterns,
                    designation
                }),
        ]
        .prop_map(pattern_at)
    })
    .boxed()
}

fn lambda(expr: S<Expr>) -> S<Expr> {
    let untyped = vec(identifier(), 0..3).prop_map(|names| {
        let parameter = |name| LambdaParameter {
            scoped: false,
            modifier: None,
            ty: None,
            name,
            default: None,
        };
        names.into_iter().map(parameter).collect::<Vec<_>>()
    });
    let typed = (ty(), identifier(), option::of(expr.clone())).prop_map(|(ty, name, default)| {
        LambdaParameter {
            scoped: false,
            modifier: None,
            ty: Some(ty),
            name,
            default,
        }
    });
    let parameters = prop_oneof![untyped, vec(typed, 1..3)];
    let declare = (ty(), identifier(), expr.clone())
        .prop_map(|(ty, name, value)| Statement::Declare { ty, name, value });
    let statement = prop_oneof![
        declare,
        expr.clone().prop_map(|it| Statement::Expr(paren(it)))
    ];
    let block = (vec(statement, 0..3), any::<bool>()).prop_map(|(statements, returns)| Block {
        statements,
        returns,
    });
    let head = (any::<bool>(), any::<bool>());
    (head, parameters, option::of(block), expr)
        .prop_map(|((is_static, is_async), parameters, block, body)| {
            // `a * b = c;` declares a pointer.
            let is_plain = block.as_ref().is_none_or(|it| it.returns);
            let body = if is_plain { body } else { paren(body) };
            at(ExprKind::Lambda(Box::new(Lambda {
                is_static,
                is_async,
                return_type: None,
                return_ref: None,
                parameters,
                parenthesized: true,
                block,
                body,
            })))
        })
        .boxed()
}

fn query(expr: S<Expr>) -> S<Expr> {
    let from =
        (option::of(ty()), identifier(), expr.clone()).prop_map(|(ty, name, source)| FromClause {
            ty,
            name,
            source,
            span: Span::default(),
        });
    let ordering = (expr.clone(), any::<bool>()).prop_map(|(key, descending)| Ordering {
        key: paren(key),
        descending,
    });
    let clause = prop_oneof![
        from.clone().prop_map(QueryClause::From),
        (identifier(), expr.clone()).prop_map(|(name, value)| QueryClause::Let { name, value }),
        expr.clone().prop_map(QueryClause::Where),
        (
            from.clone(),
            expr.clone(),
            expr.clone(),
            option::of(identifier())
        )
            .prop_map(|(from, left, right, into)| {
                QueryClause::Join(Box::new(JoinClause {
                    from,
                    left,
                    right,
                    into,
                }))
            }),
        vec(ordering, 1..3).prop_map(QueryClause::OrderBy),
    ];
    let end = prop_oneof![
        expr.clone().prop_map(QueryEnd::Select),
        (expr.clone(), expr).prop_map(|(element, key)| QueryEnd::Group { element, key }),
    ];
    let body = (vec(clause, 0..3), end).prop_map(|(clauses, end)| QueryBody { clauses, end });
    let continuation =
        (identifier(), body.clone()).prop_map(|(name, body)| QueryContinuation { name, body });
    (from, body, vec(continuation, 0..2))
        .prop_map(|(from, body, continuations)| {
            at(ExprKind::Query(Box::new(Query {
                from,
                body,
                continuations,
            })))
        })
        .boxed()
}

fn binary_op() -> S<BinaryOp> {
    use BinaryOp::*;
    // Comparisons by `<` and `>` come in parentheses, as two of them can look like type arguments.
    prop::sample::select(vec![
        Add,
        Subtract,
        Multiply,
        Divide,
        Remainder,
        ShiftLeft,
        Equal,
        NotEqual,
        And,
        Xor,
        Or,
        ConditionalAnd,
        ConditionalOr,
        Coalesce,
        LessOrEqual,
        GreaterOrEqual,
    ])
    .boxed()
}

/// A random expression.
pub(crate) fn expr() -> S<Expr> {
    let leaf = prop_oneof![
        4 => identifier().prop_map(|it| ExprKind::Name(simple(it))),
        4 => literal().prop_map(ExprKind::Literal),
        1 => Just(ExprKind::This),
        1 => Just(ExprKind::Pseudo(PseudoVariable::Exception)),
        1 => (0..9_u32).prop_map(|it| ExprKind::Pseudo(PseudoVariable::Handle(it))),
        1 => ty().prop_map(|it| ExprKind::TypeOf(Box::new(it))),
        1 => ty().prop_map(|it| ExprKind::Default(Box::new(it))),
    ];
    leaf.prop_map(at).prop_recursive(4, 40, 4, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let target = inner
            .clone()
            .prop_filter("no cast", is_simple_target)
            .prop_map(Box::new);
        // Where a `(` or `[` may follow, names would become calls and types.
        let wrapped = inner.clone().prop_map(|it| at(ExprKind::Checked(true, Box::new(it)))).boxed();
        let unary = prop::sample::select(vec![
            UnaryOp::Plus,
            UnaryOp::Minus,
            UnaryOp::Not,
            UnaryOp::Complement,
            UnaryOp::Increment,
            UnaryOp::Decrement,
            UnaryOp::Dereference,
            UnaryOp::AddressOf,
            UnaryOp::FromEnd,
        ]);
        let postfix =
            prop::sample::select(vec![PostfixOp::Increment, PostfixOp::Decrement, PostfixOp::NullForgiving]);
        let assign = prop::sample::select(vec![
            AssignOp::Assign,
            AssignOp::Add,
            AssignOp::UnsignedShiftRight,
            AssignOp::ShiftRight,
            AssignOp::Coalesce,
        ]);
        let binding = prop_oneof![
            identifier().prop_map(|it| ExprKind::MemberBinding(simple(it))),
            wrapped.clone().prop_map(|value| {
                ExprKind::ElementBinding(vec![Argument { name: None, modifier: None, value }])
            }),
        ]
        .prop_map(at);
        let member = identifier().prop_map(simple);
        let called = simple_name(ty());
        let arm = (pattern(wrapped.clone()), option::of(wrapped.clone()), inner.clone())
            .prop_map(|(pattern, guard, value)| SwitchArm { pattern, guard, value });
        let property = (identifier(), inner.clone())
            .prop_map(|(name, value)| InitializerMember::Property(name, InitValue::Expr(value)));
        let init = prop_oneof![
            property.clone(),
            (identifier(), vec(property.clone(), 0..2)).prop_map(|(name, members)| {
                let nested = Initializer { members, span: Span::default() };
                InitializerMember::Property(name, InitValue::Nested(nested))
            }),
            (wrapped.clone(), inner.clone()).prop_map(|(key, value)| {
                let key = Argument { name: None, modifier: None, value: key };
                InitializerMember::Index(vec![key], InitValue::Expr(value))
            }),
            wrapped.clone().prop_map(InitializerMember::Element),
            vec(inner.clone(), 1..3)
                .prop_map(|values| InitializerMember::Elements(values, Span::default())),
        ];
        let initializer = |member: BoxedStrategy<InitializerMember>| {
            vec(member, 0..3).prop_map(|members| Initializer { members, span: Span::default() })
        };
        let element_ty = ty().prop_filter("creatable", |it| {
            matches!(it.kind, TypeKind::Name(_) | TypeKind::Predefined(_))
        });
        let element = (any::<bool>(), inner.clone()).prop_map(|(spread, value)| match spread {
            true => CollectionElement::Spread(value),
            false => CollectionElement::Value(value),
        });
        let hole = (wrapped.clone(), option::of(Just(at(ExprKind::Literal(Literal::Bool(true))))))
            .prop_map(|(value, alignment)| {
                InterpolationPart::Hole(Box::new(Interpolation {
                    value,
                    alignment,
                    format: None,
                    span: Span::default(),
                }))
            });
        let part = (text(), hole).prop_map(|(text, hole)| {
            match text.units().is_empty() {
                true => vec![hole],
                false => vec![InterpolationPart::Text(text, Span::default()), hole],
            }
        });
        let tuple_element = (option::of(identifier()), wrapped.clone())
            .prop_map(|(name, value)| Argument { name, modifier: None, value });
        prop_oneof![
            8 => (binary_op(), boxed.clone(), boxed.clone())
                .prop_map(|(op, a, b)| at(ExprKind::Binary(op, a, b))),
            2 => (boxed.clone(), boxed.clone())
                .prop_map(|(a, b)| paren(at(ExprKind::Binary(BinaryOp::Less, a, b)))),
            2 => (wrapped.clone(), wrapped.clone()).prop_map(|(a, b)| {
                at(ExprKind::Binary(BinaryOp::ShiftRight, Box::new(a), Box::new(b)))
            }),
            3 => (unary, boxed.clone()).prop_map(|(op, a)| at(ExprKind::Unary(op, a))),
            1 => (postfix, target.clone()).prop_map(|(op, a)| at(ExprKind::Postfix(op, a))),
            2 => (assign, boxed.clone(), boxed.clone())
                .prop_map(|(op, a, b)| at(ExprKind::Assign(op, a, b))),
            3 => (boxed.clone(), boxed.clone(), boxed.clone())
                .prop_map(|(a, b, c)| at(ExprKind::Conditional(a, b, c))),
            3 => (target.clone(), member.clone()).prop_map(|(target, name)| {
                at(ExprKind::Member { target, access: MemberAccess::Dot, name })
            }),
            3 => (target.clone(), called, arguments(wrapped.clone())).prop_map(
                |(target, name, arguments)| {
                    let access = MemberAccess::Dot;
                    let target = Box::new(at(ExprKind::Member { target, access, name }));
                    at(ExprKind::Call { target, arguments })
                }
            ),
            3 => (target.clone(), arguments(wrapped.clone()))
                .prop_map(|(target, arguments)| at(ExprKind::Call { target, arguments })),
            2 => (target.clone(), wrapped.clone()).prop_map(|(target, value)| {
                let arguments = vec![Argument { name: None, modifier: None, value }];
                at(ExprKind::Index { target, arguments })
            }),
            2 => (target, binding).prop_map(|(target, access)| {
                at(ExprKind::ConditionalAccess { target, access: Box::new(access) })
            }),
            2 => (ty(), boxed.clone()).prop_map(|(ty, a)| at(ExprKind::Cast(Box::new(ty), a))),
            1 => (boxed.clone(), ty()).prop_map(|(a, ty)| at(ExprKind::As(a, Box::new(ty)))),
            3 => (boxed.clone(), pattern(wrapped.clone()))
                .prop_map(|(a, pattern)| paren(at(ExprKind::Is(a, Box::new(pattern))))),
            2 => (boxed.clone(), vec(arm, 0..3)).prop_map(|(a, arms)| at(ExprKind::Switch(a, arms))),
            1 => (boxed.clone(), initializer(property.boxed()))
                .prop_map(|(a, init)| at(ExprKind::With(a, init))),
            2 => (option::of(element_ty.clone()), arguments(wrapped.clone()), option::of(initializer(init.boxed())))
                .prop_map(|(ty, arguments, initializer)| {
                    let arguments = Some(arguments);
                    at(ExprKind::New(Box::new(New { ty, arguments, initializer })))
                }),
            1 => (element_ty, vec(inner.clone(), 1..3)).prop_map(|(element, sizes)| {
                at(ExprKind::NewArray(Box::new(NewArray {
                    stackalloc: false,
                    element: Some(element),
                    rank: u32::try_from(sizes.len()).expect("small"),
                    sizes,
                    initializer: None,
                })))
            }),
            1 => vec((option::of(identifier()), wrapped.clone()), 0..3).prop_map(|members| {
                let member = |(name, value)| AnonymousMember { name, value };
                at(ExprKind::Anonymous(members.into_iter().map(member).collect()))
            }),
            2 => vec(element, 0..3).prop_map(|elements| at(ExprKind::Collection(elements))),
            2 => vec(part, 0..3).prop_map(|parts| at(ExprKind::Interpolated(parts.concat()))),
            2 => vec(tuple_element, 2..4).prop_map(|elements| at(ExprKind::Tuple(elements))),
            2 => (option::of(wrapped.clone()), option::of(wrapped.clone())).prop_map(|(a, b)| {
                paren(at(ExprKind::Range(a.map(Box::new), b.map(Box::new))))
            }),
            2 => lambda(inner.clone()),
            1 => query(inner.clone()).prop_map(paren),
            2 => inner.prop_map(|it| at(ExprKind::Checked(false, Box::new(it)))),
        ]
    }).boxed()
}
