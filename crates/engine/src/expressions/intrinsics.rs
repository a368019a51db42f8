//! Members of the framework that are computed by us: pure ones, on values and layouts that we know.

use crate::types::{Method, Types};

/// Names such a member: its type and its method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Intrinsic {
    /// The full name of the type, with arity mark.
    pub(crate) ty: &'static str,
    /// The method.
    pub(crate) name: &'static str,
}

/// What is known, by type.
const KNOWN: &[(&str, &[&str])] = &[
    (
        "System.String",
        &[
            "get_Length",
            "get_Chars",
            "Contains",
            "StartsWith",
            "EndsWith",
            "Substring",
            "IndexOf",
            "LastIndexOf",
            "Replace",
            "Insert",
            "Remove",
            "Trim",
            "TrimStart",
            "TrimEnd",
            "PadLeft",
            "PadRight",
            "ToUpper",
            "ToLower",
            "ToUpperInvariant",
            "ToLowerInvariant",
            "Equals",
            "op_Equality",
            "op_Inequality",
            "IsNullOrEmpty",
            "IsNullOrWhiteSpace",
            "Concat",
            "Join",
            "ToString",
            "CompareOrdinal",
            "ToCharArray",
            "op_Implicit",
            ".ctor",
        ],
    ),
    (
        "System.Object",
        &["ToString", "Equals", "GetType", "ReferenceEquals"],
    ),
    ("System.ValueType", &["ToString"]),
    ("System.Exception", &["get_Message"]),
    ("System.Enum", &["ToString", "HasFlag"]),
    (
        "System.Nullable`1",
        &["get_HasValue", "get_Value", "GetValueOrDefault", "ToString"],
    ),
    (
        "System.Math",
        &[
            "Max", "Min", "Abs", "Sqrt", "Floor", "Ceiling", "Truncate", "Sign", "Clamp", "Round",
        ],
    ),
    (
        "System.Char",
        &[
            "IsDigit",
            "IsLetter",
            "IsLetterOrDigit",
            "IsWhiteSpace",
            "IsUpper",
            "IsLower",
            "ToUpper",
            "ToLower",
            "ToString",
            "Equals",
            "CompareTo",
        ],
    ),
    ("System.Boolean", &["ToString", "Equals"]),
    (
        "System.Array",
        &[
            "get_Rank",
            "GetLength",
            "get_LongLength",
            "get_Length",
            "IndexOf",
            "Find",
            "Exists",
            "ForEach",
            "FindAll",
            "FindIndex",
            "FindLast",
            "FindLastIndex",
            "TrueForAll",
            "ConvertAll",
            "Sort",
        ],
    ),
    (
        "System.Collections.Generic.HashSet`1",
        &["Contains", "get_Count"],
    ),
    ("System.Collections.Generic.Comparer`1", &["Create"]),
    (
        "System.Linq.ILookup`2",
        &["get_Item", "get_Count", "Contains"],
    ),
    (
        "System.Collections.Generic.List`1",
        &[
            "FindLast",
            "FindLastIndex",
            "RemoveAll",
            "Sort",
            "Contains",
            "IndexOf",
            "LastIndexOf",
            "ToArray",
            "get_Item",
            "get_Count",
            "Find",
            "Exists",
            "FindIndex",
            "ConvertAll",
            "TrueForAll",
            "FindAll",
            "ForEach",
        ],
    ),
    (
        "System.Collections.Generic.Dictionary`2",
        &[
            "get_Item",
            "get_Count",
            "ContainsKey",
            "get_Keys",
            "get_Values",
        ],
    ),
    (
        "System.Collections.Generic.KeyValuePair`2",
        &["get_Key", "get_Value"],
    ),
    ("System.Linq.IGrouping`2", &["get_Key"]),
    (
        "System.Runtime.CompilerServices.ITuple",
        &["get_Length", "get_Item"],
    ),
    (
        "System.Linq.Enumerable",
        &[
            "Where",
            "Select",
            "SelectMany",
            "Count",
            "LongCount",
            "Sum",
            "Max",
            "Min",
            "Average",
            "First",
            "FirstOrDefault",
            "Last",
            "LastOrDefault",
            "Single",
            "SingleOrDefault",
            "Any",
            "All",
            "Contains",
            "Skip",
            "Take",
            "SkipWhile",
            "TakeWhile",
            "OrderBy",
            "OrderByDescending",
            "ThenBy",
            "ThenByDescending",
            "Reverse",
            "Distinct",
            "Concat",
            "Union",
            "Except",
            "Intersect",
            "Zip",
            "Aggregate",
            "GroupBy",
            "GroupJoin",
            "Join",
            "ToList",
            "ToArray",
            "ToDictionary",
            "ElementAt",
            "ElementAtOrDefault",
            "Append",
            "Prepend",
            "Cast",
            "OfType",
            "Range",
            "Repeat",
            "Empty",
            "DefaultIfEmpty",
            "AsEnumerable",
            "MaxBy",
            "MinBy",
            "DistinctBy",
            "Chunk",
            "SkipLast",
            "TakeLast",
            "UnionBy",
            "ExceptBy",
            "IntersectBy",
            "Order",
            "OrderDescending",
            "Index",
            "CountBy",
            "AggregateBy",
            "SequenceEqual",
            "ToLookup",
            "ToHashSet",
        ],
    ),
    (
        "System.Linq.ImmutableArrayExtensions",
        &[
            "Select",
            "SelectMany",
            "Where",
            "Any",
            "All",
            "SequenceEqual",
            "Aggregate",
            "ElementAt",
            "ElementAtOrDefault",
            "First",
            "FirstOrDefault",
            "Last",
            "LastOrDefault",
            "Single",
            "SingleOrDefault",
            "ToDictionary",
            "ToArray",
        ],
    ),
];

/// Dates and times, which compute the same way, too.
const TIMES: &[&str] = &[
    "System.DateTime",
    "System.TimeSpan",
    "System.DateOnly",
    "System.TimeOnly",
];
const TIME_MEMBERS: &[&str] = &[
    "get_Ticks",
    "get_DayNumber",
    "get_Year",
    "get_Month",
    "get_Day",
    "get_DayOfWeek",
    "get_DayOfYear",
    "get_Hour",
    "get_Minute",
    "get_Second",
    "get_Millisecond",
    "get_Days",
    "get_Hours",
    "get_Minutes",
    "get_Seconds",
    "get_Milliseconds",
    "get_TotalDays",
    "get_TotalHours",
    "get_TotalMinutes",
    "get_TotalSeconds",
    "get_TotalMilliseconds",
    "op_Equality",
    "op_Inequality",
    "op_LessThan",
    "op_LessThanOrEqual",
    "op_GreaterThan",
    "op_GreaterThanOrEqual",
    "Equals",
    "CompareTo",
    "Compare",
];

/// The numbers whose members all compute the same way.
const NUMBERS: &[&str] = &[
    "System.SByte",
    "System.Byte",
    "System.Int16",
    "System.UInt16",
    "System.Int32",
    "System.UInt32",
    "System.Int64",
    "System.UInt64",
    "System.IntPtr",
    "System.UIntPtr",
    "System.Single",
    "System.Double",
    "System.Decimal",
    "System.Int128",
    "System.UInt128",
    "System.Half",
];
const NUMBER_MEMBERS: &[&str] = &[
    "ToString",
    "Equals",
    "CompareTo",
    "IsNaN",
    "IsInfinity",
    "IsNegative",
    "op_Addition",
    "op_Subtraction",
    "op_Multiply",
    "op_Division",
    "op_Modulus",
    "op_BitwiseAnd",
    "op_BitwiseOr",
    "op_ExclusiveOr",
    "op_LeftShift",
    "op_RightShift",
    "op_UnsignedRightShift",
    "op_Equality",
    "op_Inequality",
    "op_LessThan",
    "op_GreaterThan",
    "op_LessThanOrEqual",
    "op_GreaterThanOrEqual",
    "op_Increment",
    "op_Decrement",
    "op_UnaryNegation",
    "op_UnaryPlus",
    "op_OnesComplement",
    "op_Implicit",
    "op_Explicit",
];

/// Whether a name is one that LINQ brings.
pub(crate) fn is_linq(name: &str) -> bool {
    let mut all = KNOWN
        .iter()
        .filter(|(ty, _)| *ty == "System.Linq.Enumerable");
    matches!(name, "Enumerable" | "Linq") || all.any(|(_, members)| members.contains(&name))
}

/// How we compute a method, if we do.
pub(crate) fn find(types: Types<'_>, method: &Method) -> Option<Intrinsic> {
    let (namespace, name) = types.simple_name(&method.declared_in).ok()?;
    if !namespace.starts_with("System") {
        return None;
    }
    let full = format!("{namespace}.{name}");
    let known = |members: &'static [&'static str], ty: &'static str| {
        let name = members.iter().copied().find(|it| *it == method.name)?;
        Some(Intrinsic { ty, name })
    };
    if let Some(ty) = NUMBERS.iter().copied().find(|it| *it == full) {
        return known(NUMBER_MEMBERS, ty);
    }
    if let Some(ty) = TIMES.iter().copied().find(|it| *it == full) {
        return known(TIME_MEMBERS, ty);
    }
    let (ty, members) = KNOWN.iter().copied().find(|(ty, _)| *ty == full)?;
    known(members, ty)
}
