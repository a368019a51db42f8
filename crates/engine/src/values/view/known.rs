//! The types of the framework whose values have a view of their own, told by name.

use crate::types::{Kind, Named, Type, Types};

use super::super::Reader;

/// Types lie less deeply inside each other.
const MAX_NESTING: u32 = 16;

macro_rules! known {
    ($($namespace:literal { $($name:literal => $known:ident),* $(,)? })*) => {
        /// What a type is to the views.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Known {
            /// A type without a view of its own.
            Plain,
            Array,
            String,
            Enum,
            Delegate,
            Tuple,
            AnonymousType,
            InlineArray,
            /// The keys of a dictionary, as a collection.
            DictionaryKeys,
            /// Its values.
            DictionaryValues,
            $($($known,)*)*
        }

        fn by_name(namespace: &str, name: &str) -> Option<Known> {
            match namespace {
                $($namespace => match name {
                    $($name => Some(Known::$known),)*
                    _ => None,
                },)*
                _ => None,
            }
        }
    };
}

known! {
    "System" {
        "Decimal" => Decimal,
        "DateTime" => DateTime,
        "DateTimeOffset" => DateTimeOffset,
        "DateOnly" => DateOnly,
        "TimeOnly" => TimeOnly,
        "TimeSpan" => TimeSpan,
        "Guid" => Guid,
        "Half" => Half,
        "Int128" => Int128,
        "UInt128" => UInt128,
        "Index" => Index,
        "Range" => Range,
        "Nullable`1" => Nullable,
        "Span`1" => Span,
        "ReadOnlySpan`1" => ReadOnlySpan,
        "Memory`1" => Memory,
        "ReadOnlyMemory`1" => ReadOnlyMemory,
        "ArraySegment`1" => ArraySegment,
        "Lazy`1" => Lazy,
        "WeakReference" => WeakReference,
        "WeakReference`1" => WeakReferenceOf,
        "RuntimeType" => RuntimeType,
        "Exception" => Exception,
        "Version" => Version,
        "Uri" => Uri,
    }
    "System.Text" {
        "StringBuilder" => StringBuilder,
        "Rune" => Rune,
    }
    "System.Numerics" {
        "BigInteger" => BigInteger,
    }
    "System.Threading" {
        "CancellationToken" => CancellationToken,
        "CancellationTokenSource" => CancellationTokenSource,
    }
    "System.Threading.Tasks" {
        "Task`1" => TaskOf,
        "Task" => Task,
        "ValueTask" => ValueTask,
        "ValueTask`1" => ValueTaskOf,
    }
    "System.Threading.Channels" {
        "UnboundedChannel`1" => UnboundedChannel,
        "BoundedChannel`1" => BoundedChannel,
    }
    "System.Dynamic" {
        "ExpandoObject" => ExpandoObject,
    }
    "System.Reflection" {
        "RuntimeMethodInfo" => MethodInfo,
        "RuntimeConstructorInfo" => MethodInfo2,
    }
    "System.Collections" {
        "ArrayList" => ArrayList,
        "Hashtable" => Hashtable,
        "BitArray" => BitArray,
        "DictionaryEntry" => DictionaryEntry,
        "Queue" => OldQueue,
        "Stack" => OldStack,
    }
    "System.Collections.Generic" {
        "List`1" => List,
        "Dictionary`2" => Dictionary,
        "OrderedDictionary`2" => OrderedDictionary,
        "HashSet`1" => HashSet,
        "Queue`1" => Queue,
        "Stack`1" => Stack,
        "LinkedList`1" => LinkedList,
        "SortedDictionary`2" => SortedDictionary,
        "SortedSet`1" => SortedSet,
        "SortedList`2" => SortedList,
        "PriorityQueue`2" => PriorityQueue,
        "KeyValuePair`2" => KeyValuePair,
    }
    "System.Collections.ObjectModel" {
        "Collection`1" => Collection,
        "ReadOnlyCollection`1" => ReadOnlyCollection,
        "ReadOnlyDictionary`2" => ReadOnlyDictionary,
        "ReadOnlySet`1" => ReadOnlySet,
    }
    "System.Collections.Concurrent" {
        "ConcurrentDictionary`2" => ConcurrentDictionary,
        "ConcurrentQueue`1" => ConcurrentQueue,
        "ConcurrentStack`1" => ConcurrentStack,
        "ConcurrentBag`1" => ConcurrentBag,
        "BlockingCollection`1" => BlockingCollection,
    }
    "System.Collections.Immutable" {
        "ImmutableArray`1" => ImmutableArray,
        "ImmutableList`1" => ImmutableList,
        "ImmutableDictionary`2" => ImmutableDictionary,
        "ImmutableHashSet`1" => ImmutableHashSet,
        "ImmutableSortedDictionary`2" => ImmutableSortedDictionary,
        "ImmutableSortedSet`1" => ImmutableSortedSet,
        "ImmutableQueue`1" => ImmutableQueue,
        "ImmutableStack`1" => ImmutableStack,
    }
    "System.Collections.Frozen" {
        "FrozenDictionary`2" => FrozenDictionary,
        "FrozenSet`1" => FrozenSet,
    }
    "System.Linq" {
        "Lookup`2" => Lookup,
        "Grouping`2" => Grouping,
    }
}

impl Reader<'_> {
    /// What a type is to the views: its own name decides, else that of the nearest base type that has a view.
    pub(crate) fn known(&self, ty: &Type) -> Known {
        if let Some(known) = self.layouts.known.get(ty) {
            return known;
        }
        let known = classify(self.types, ty);
        self.layouts.known.insert(ty.clone(), known);
        known
    }
}

fn classify(types: Types<'_>, ty: &Type) -> Known {
    match ty {
        Type::SzArray(_) | Type::Array { .. } => return Known::Array,
        Type::Primitive(metadata::signature::Primitive::String) => return Known::String,
        Type::Named(named) => match named.kind {
            Kind::Enum(_) => return Known::Enum,
            Kind::Delegate => return Known::Delegate,
            _ => {}
        },
        _ => return Known::Plain,
    }
    if types.tuple_elements(ty).is_some() {
        return Known::Tuple;
    }
    for (depth, named) in types.ancestry(ty).unwrap_or_default().iter().enumerate() {
        let Ok(definition) = types.definition(named) else {
            break;
        };
        if definition.flags().is_nested() {
            if let Some(known) = part_of_dictionary(types, named) {
                return known;
            }
            continue;
        }
        let (Ok(namespace), Ok(name)) = (definition.namespace(), definition.name()) else {
            break;
        };
        if let Some(known) = by_name(&namespace, &name) {
            return known;
        }
        if depth == 0 {
            if name.starts_with("<>f__AnonymousType") {
                return Known::AnonymousType;
            }
            if named.kind == Kind::Struct
                && super::super::layout::inline_array_length(types, named).is_some()
            {
                return Known::InlineArray;
            }
        }
    }
    Known::Plain
}

/// The collections that `Dictionary.Keys` and `Dictionary.Values` give.
fn part_of_dictionary(types: Types<'_>, named: &Named) -> Option<Known> {
    let metadata = types.metadata(named.module).ok()?.metadata();
    let definition = metadata.type_def(named.token).ok()?;
    let known = match &*definition.name().ok()? {
        "KeyCollection" => Known::DictionaryKeys,
        "ValueCollection" => Known::DictionaryValues,
        _ => return None,
    };
    let outer = metadata.type_def(definition.enclosing().ok()??).ok()?;
    let namespace = outer.namespace().ok()?;
    let is_dictionary = outer.name().ok()? == "Dictionary`2";
    (is_dictionary && namespace == "System.Collections.Generic").then_some(known)
}

impl Reader<'_> {
    /// Whether a type is one of the framework, and not the user's own that is derived from one.
    pub(crate) fn is_of_framework(&self, ty: &Type) -> bool {
        let Some(named) = ty.as_named() else {
            return false;
        };
        let namespace = || -> Option<String> {
            let metadata = self.types.metadata(named.module).ok()?.metadata();
            let mut definition = metadata.type_def(named.token).ok()?;
            for _ in 0..MAX_NESTING {
                let Some(outer) = definition.enclosing().ok()? else {
                    break;
                };
                definition = metadata.type_def(outer).ok()?;
            }
            Some(definition.namespace().ok()?.into_owned())
        };
        namespace().is_some_and(|it| it == "System" || it.starts_with("System."))
    }
}
