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
            /// An inline array, or a `fixed` buffer.
            Buffer,
            /// The keys of a dictionary, as a collection.
            DictionaryKeys,
            /// Its values.
            DictionaryValues,
            /// The keys of a sorted dictionary.
            SortedKeys,
            /// Its values.
            SortedValues,
            /// The keys of a sorted list.
            SortedListKeys,
            /// Its values.
            SortedListValues,
            /// The keys or the values of a read-only dictionary, around those of another.
            ReadOnlyPart,
            /// What wraps a collection of `System.Collections`, to guard it or to fix it.
            OldWrapper,
            /// A part of an `ArrayList`.
            OldRange,
            /// The keys of another collection, in a collection of their own.
            KeysOf,
            /// The same of values.
            ValuesOf,
            /// The one or the other, as a field says.
            KeysOrValuesOf,
            /// The one or the other, as there is a table or not.
            OldOrderedPart,
            /// A part of a sorted set.
            SortedRange,
            /// What a priority queue gives to be enumerated.
            UnorderedItems,
            /// What builds an immutable array.
            ImmutableArrayBuilder,
            /// What the compiler makes of `[1, 2]` where that is to be read only.
            CollectionExpression,
            /// The same of a single element.
            SingleElement,
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

impl Known {
    /// Whether the line of such a value tells it whole, so that its parts are told only to who asks for them.
    pub(super) fn is_told_by_its_line(self) -> bool {
        use Known::*;
        matches!(
            self,
            Decimal
                | DateTime
                | DateTimeOffset
                | DateOnly
                | TimeOnly
                | TimeSpan
                | Guid
                | Half
                | Int128
                | UInt128
                | Index
                | Range
                | BigInteger
                | Rune
                | Version
        )
    }
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
        "Vector`1" => Vector,
    }
    "System.Runtime.Intrinsics" {
        "Vector64`1" => Vector64,
        "Vector128`1" => Vector128,
        "Vector256`1" => Vector256,
        "Vector512`1" => Vector512,
    }
    "System.Buffers" {
        "ReadOnlySequence`1" => ReadOnlySequence,
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
        "SingleConsumerUnboundedChannel`1" => SingleReaderChannel,
        "UnboundedPrioritizedChannel`1" => PrioritizedChannel,
        "BoundedChannel`1" => BoundedChannel,
    }
    "System.Dynamic" {
        "ExpandoObject" => ExpandoObject,
    }
    "System.Reflection" {
        "RuntimeMethodInfo" => MethodInfo,
        "RuntimeConstructorInfo" => MethodInfo2,
        "RuntimePropertyInfo" => PropertyInfo,
        "RuntimeEventInfo" => EventInfo,
        "RtFieldInfo" => FieldInfo,
        "MdFieldInfo" => FieldInfo2,
    }
    "System.Collections" {
        "ArrayList" => ArrayList,
        "Hashtable" => Hashtable,
        "BitArray" => BitArray,
        "DictionaryEntry" => DictionaryEntry,
        "Queue" => OldQueue,
        "Stack" => OldStack,
        "SortedList" => OldSortedList,
        "ListDictionaryInternal" => InternalDictionary,
    }
    "System.Collections.Specialized" {
        "StringCollection" => StringCollection,
        "StringDictionary" => StringDictionary,
        "ListDictionary" => ListDictionary,
        "HybridDictionary" => HybridDictionary,
        "OrderedDictionary" => OldOrderedDictionary,
        "NameObjectCollectionBase" => NameObjectCollection,
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
        "SingleProducerSingleConsumerQueue`1" => SingleReaderQueue,
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

impl Known {
    /// Why an element is not to be put in the place of another, if it is not.
    pub(crate) const fn why_fixed(self) -> Option<&'static str> {
        match self {
            Self::HashSet
            | Self::SortedSet
            | Self::ReadOnlySet
            | Self::ImmutableHashSet
            | Self::ImmutableSortedSet
            | Self::FrozenSet
            | Self::DictionaryKeys
            | Self::SortedKeys
            | Self::SortedListKeys
            | Self::KeysOf
            | Self::SortedRange => {
                Some("where it lies depends on what it is: another value would not be found there")
            }
            Self::ReadOnlySpan
            | Self::ReadOnlyMemory
            | Self::ReadOnlySequence
            | Self::ReadOnlyCollection
            | Self::ReadOnlyDictionary
            | Self::ImmutableArray
            | Self::ImmutableList
            | Self::ImmutableDictionary
            | Self::ImmutableSortedDictionary
            | Self::ImmutableQueue
            | Self::ImmutableStack
            | Self::FrozenDictionary
            | Self::ReadOnlyPart
            | Self::CollectionExpression
            | Self::SingleElement
            | Self::UnorderedItems
            | Self::ValuesOf
            | Self::KeysOrValuesOf
            | Self::OldOrderedPart
            | Self::Delegate
            | Self::Lookup
            | Self::Grouping => Some("the collection is one that cannot be changed"),
            _ => None,
        }
    }

    /// Whether its line is made of the lines of what it leads to.
    pub(super) const fn shows_others(self) -> bool {
        matches!(
            self,
            Self::Tuple
                | Self::KeyValuePair
                | Self::DictionaryEntry
                | Self::Task
                | Self::TaskOf
                | Self::ValueTask
                | Self::ValueTaskOf
                | Self::Lazy
                | Self::WeakReference
                | Self::WeakReferenceOf
        )
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
        if depth == 0
            && named.kind == Kind::Struct
            && super::super::buffer_length(types, named).is_some()
        {
            return Known::Buffer;
        }
        if definition.flags().is_nested() {
            if let Some(known) = part_of_dictionary(types, named) {
                return known;
            }
            // What `GetViewBetween` gives keeps the tree of the whole set.
            if definition.name().is_ok_and(|it| it == "TreeSubSet") {
                return Known::SortedRange;
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
            if name.starts_with("<>z__ReadOnlySingleElementList") {
                return Known::SingleElement;
            }
            if name.starts_with("<>z__ReadOnlyArray") || name.starts_with("<>z__ReadOnlyList") {
                return Known::CollectionExpression;
            }
        }
    }
    Known::Plain
}

/// The collections that belong to others: what `Dictionary.Keys` and `Dictionary.Values` give, builders.
fn part_of_dictionary(types: Types<'_>, named: &Named) -> Option<Known> {
    let metadata = types.metadata(named.module).ok()?.metadata();
    let definition = metadata.type_def(named.token).ok()?;
    let outer = metadata.type_def(definition.enclosing().ok()??).ok()?;
    let (namespace, outer) = (outer.namespace().ok()?, outer.name().ok()?);
    Some(match (&*namespace, &*outer, &*definition.name().ok()?) {
        // They are derived from what they wrap, and have its fields too, which they do not use.
        ("System.Collections", "ArrayList", "Range") => Known::OldRange,
        ("System.Collections", "ArrayList", part) if !part.contains("Enumerator") => {
            Known::OldWrapper
        }
        ("System.Collections", "Hashtable", "SyncHashtable")
        | ("System.Collections", "SortedList", "SyncSortedList")
        | ("System.Collections", "Queue", "SynchronizedQueue")
        | ("System.Collections", "Stack", "SyncStack") => Known::OldWrapper,
        ("System.Collections", "Hashtable", "KeyCollection")
        | ("System.Collections", "SortedList", "KeyList")
        | ("System.Collections.Specialized", "NameObjectCollectionBase", "KeysCollection") => {
            Known::KeysOf
        }
        ("System.Collections", "Hashtable", "ValueCollection")
        | ("System.Collections", "SortedList", "ValueList") => Known::ValuesOf,
        ("System.Collections.Specialized", "ListDictionary", "NodeKeyValueCollection")
        | ("System.Collections", "ListDictionaryInternal", "NodeKeyValueCollection") => {
            Known::KeysOrValuesOf
        }
        (
            "System.Collections.Specialized",
            "OrderedDictionary",
            "OrderedDictionaryKeyValueCollection",
        ) => Known::OldOrderedPart,
        ("System.Collections.Generic", outer, part) => match (outer, part) {
            ("OrderedDictionary`2", "KeyCollection") => Known::KeysOf,
            ("OrderedDictionary`2", "ValueCollection") => Known::ValuesOf,
            ("Dictionary`2", "KeyCollection") => Known::DictionaryKeys,
            ("Dictionary`2", "ValueCollection") => Known::DictionaryValues,
            ("SortedDictionary`2", "KeyCollection") => Known::SortedKeys,
            ("SortedDictionary`2", "ValueCollection") => Known::SortedValues,
            ("PriorityQueue`2", "UnorderedItemsCollection") => Known::UnorderedItems,
            ("SortedList`2", "KeyList") => Known::SortedListKeys,
            ("SortedList`2", "ValueList") => Known::SortedListValues,
            _ => return None,
        },
        (
            "System.Collections.ObjectModel",
            "ReadOnlyDictionary`2",
            "KeyCollection" | "ValueCollection",
        ) => Known::ReadOnlyPart,
        ("System.Collections.Immutable", "ImmutableArray`1", "Builder") => {
            Known::ImmutableArrayBuilder
        }
        // The builders of the others have the same trees.
        ("System.Collections.Immutable", outer, "Builder") => {
            by_name("System.Collections.Immutable", outer)?
        }
        _ => return None,
    })
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
