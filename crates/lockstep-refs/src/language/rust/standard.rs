//! Knowledge of the standard library: wrappers that methods see through, and the results of their own
//! methods.
//!
//! It covers only common cases; anything else is unknown.

use super::values::Ty;

pub(super) fn operator_method(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "+" => "add",
        "-" => "sub",
        "*" => "mul",
        "/" => "div",
        "%" => "rem",
        "&" => "bitand",
        "|" => "bitor",
        "^" => "bitxor",
        "<<" => "shl",
        ">>" => "shr",
        _ => return None,
    })
}

/// Returns true for functions that return their first argument, as far as methods are concerned.
pub(super) fn hands_through(path: &str) -> bool {
    matches!(
        path,
        "Some"
            | "Ok"
            | "Box::new"
            | "Arc::new"
            | "Rc::new"
            | "Pin::new"
            | "Box::pin"
            | "Cow::Borrowed"
            | "Cow::Owned"
            | "mem::take"
            | "mem::replace"
            | "std::mem::take"
            | "std::mem::replace"
            | "core::mem::take"
            | "core::mem::replace"
            | "Arc::clone"
            | "Rc::clone"
            | "Cell::new"
            | "RefCell::new"
            | "Mutex::new"
            | "RwLock::new"
            | "black_box"
            | "Poll::Ready"
            | "identity"
            | "Wrapping"
            | "Reverse"
            | "Cursor::new"
            | "BufReader::new"
            | "BufWriter::new"
            | "ManuallyDrop::new"
    )
}

/// Returns the result of a method with a type argument: `parse::<T>()`.
pub(super) fn turbofish(method: &str, argument: &str) -> Option<String> {
    match method {
        "parse" | "downcast" | "try_into" => Some(format!("Result<{argument}>")),
        "downcast_ref" | "downcast_mut" => Some(format!("Option<{argument}>")),
        "collect" | "sum" | "product" | "into" | "cast" => Some(argument.to_owned()),
        _ => None,
    }
}

/// Returns the result of a method for any receiver, by convention.
pub(super) fn gives_always(method: &str) -> Option<&'static str> {
    match method {
        "to_string" | "to_lowercase" | "to_uppercase" | "to_ascii_lowercase" | "to_ascii_uppercase" => {
            Some("String")
        }
        "len" => Some("usize"),
        "is_empty" | "is_some" | "is_none" | "is_ok" | "is_err" | "contains" | "starts_with"
        | "ends_with" => Some("bool"),
        "as_bytes" => Some("[u8]"),
        _ => None,
    }
}

/// Returns true for types that need no import.
pub(super) fn is_prelude(name: &str) -> bool {
    is_plain(name)
        || matches!(
            name,
            "Option"
                | "Some"
                | "None"
                | "Result"
                | "Ok"
                | "Err"
                | "Box"
                | "Vec"
                | "Iterator"
                | "IntoIterator"
                | "DoubleEndedIterator"
                | "ExactSizeIterator"
                | "Extend"
                | "Fn"
                | "FnMut"
                | "FnOnce"
                | "Clone"
                | "Copy"
                | "Send"
                | "Sync"
                | "Sized"
                | "Drop"
                | "ToOwned"
                | "ToString"
                | "Default"
                | "From"
                | "Into"
                | "TryFrom"
                | "TryInto"
                | "AsRef"
                | "AsMut"
                | "PartialEq"
                | "PartialOrd"
                | "Eq"
                | "Ord"
                | "FromIterator"
                | "Debug"
                | "Hash"
        )
}

/// Returns true for plain types outside the project.
pub(super) fn is_plain(name: &str) -> bool {
    matches!(
        name,
        "str"
            | "String"
            | "bool"
            | "char"
            | "usize"
            | "isize"
            | "u8"
            | "u16"
            | "u32"
            | "u64"
            | "u128"
            | "i8"
            | "i16"
            | "i32"
            | "i64"
            | "i128"
            | "f32"
            | "f64"
            | "()"
            | "OsStr"
            | "OsString"
            | "Path"
            | "PathBuf"
            | "Duration"
            | "Instant"
            | "Ordering"
    )
}

/// Returns true for types whose methods are mostly those of their content.
pub(super) fn is_transparent(name: &str) -> bool {
    matches!(
        name,
        "Box"
            | "Arc"
            | "Rc"
            | "Pin"
            | "Cow"
            | "Ref"
            | "RefMut"
            | "MutexGuard"
            | "RwLockReadGuard"
            | "RwLockWriteGuard"
            | "ManuallyDrop"
            | "MaybeUninit"
            | "Mutex"
            | "RwLock"
            | "RefCell"
            | "Cell"
            | "UnsafeCell"
            | "Lazy"
            | "LazyLock"
            | "OnceLock"
            | "OnceCell"
            | "NonNull"
            | "Wrapping"
            | "Reverse"
            | "Borrow"
            | "AsRef"
            | "AsMut"
            | "Deref"
            | "Into"
            | "BorrowMut"
            | "DerefMut"
            | "AssertUnwindSafe"
            | "CachePadded"
    )
}

fn is_map(name: &str) -> bool {
    matches!(name, "HashMap" | "BTreeMap" | "IndexMap")
}

/// Returns the content of a value: the element of a list, the value of an option.
pub(super) fn element(ty: &Ty) -> Ty {
    match ty {
        Ty::Slice(inner) => (**inner).clone(),
        Ty::Outside(name, arguments) if is_map(name) => {
            Ty::Tuple(arguments.iter().take(2).cloned().collect())
        }
        Ty::Outside(name, arguments) if arguments.is_empty() && (&**name == "_" || is_plain(name)) => {
            Ty::Outside("_".into(), Vec::new())
        }
        Ty::Outside(_, arguments) => arguments.first().cloned().unwrap_or(Ty::Unknown),
        _ => Ty::Unknown,
    }
}

/// Returns the result of a method of a type outside the project. `None` if unknown.
pub(super) fn method(name: &str, arguments: &[Ty], method: &str) -> Option<Ty> {
    let same = || Ty::Outside(name.into(), arguments.to_vec());
    let whole = same();
    let element = || element(&whole);
    let option = |ty: Ty| Ty::Outside("Option".into(), vec![ty]);
    let foreign = || Ty::Outside("_".into(), Vec::new());
    Some(match method {
        "clone" | "as_ref" | "as_mut" | "iter" | "iter_mut" | "into_iter" | "by_ref" | "borrow"
        | "borrow_mut" | "to_owned" | "as_deref" | "as_deref_mut" | "cloned" | "copied" | "rev"
        | "filter" | "skip" | "take" | "chain" | "peekable" | "drain" | "as_slice" | "to_vec" | "inspect"
        | "step_by" | "skip_while" | "take_while" | "cycle" | "fuse" | "or" | "or_else" | "ok" | "ok_or"
        | "ok_or_else" | "map_err" | "as_mut_slice" | "into_boxed_slice" | "into_vec" | "sorted"
        | "windows" | "chunks" | "split_off" | "insert_with" | "as_pin_mut" | "as_pin_ref" => same(),
        "values" | "values_mut" | "into_values" if is_map(name) => {
            Ty::Outside("Iterator".into(), vec![arguments.get(1).cloned().unwrap_or(Ty::Unknown)])
        }
        "keys" | "into_keys" if is_map(name) => {
            Ty::Outside("Iterator".into(), vec![arguments.first().cloned().unwrap_or(Ty::Unknown)])
        }
        "get" | "get_mut" | "remove" | "insert" if is_map(name) => {
            option(arguments.get(1).cloned().unwrap_or(Ty::Unknown))
        }
        "entry" if is_map(name) => arguments.get(1).cloned().unwrap_or(Ty::Unknown),
        "enumerate" => Ty::Outside(
            "Iterator".into(),
            vec![Ty::Tuple(vec![Ty::Outside("usize".into(), Vec::new()), element()])],
        ),
        "unwrap" | "expect" | "unwrap_or" | "unwrap_or_default" | "unwrap_or_else" | "unwrap_unchecked"
        | "lock" | "read" | "write" | "get_or_insert" | "get_or_insert_with" | "swap_remove" | "insert"
        | "replace" | "get_or_init" | "into_inner" | "map_or_default" => element(),
        "unwrap_err" | "expect_err" => arguments.get(1).cloned().unwrap_or(Ty::Unknown),
        "err" => option(arguments.get(1).cloned().unwrap_or(Ty::Unknown)),
        "next" | "first" | "last" | "get" | "get_mut" | "pop" | "find" | "min" | "max" | "nth" | "peek"
        | "pop_front" | "pop_back" | "front" | "back" | "first_mut" | "last_mut" | "next_back"
        | "min_by_key" | "max_by_key" | "front_mut" | "back_mut" | "peek_mut" | "next_if" | "min_by"
        | "max_by" | "next_if_eq"
            if !arguments.is_empty() || name == "_" =>
        {
            option(element())
        }
        "into" | "try_into" | "parse" | "collect" | "sum" | "fold" | "map" | "and_then" | "then"
        | "then_some" | "map_or" | "map_or_else" | "flat_map" | "filter_map" | "flatten" | "downcast"
        | "downcast_ref" | "downcast_mut" | "unzip" | "partition" | "zip" | "remove" | "scan"
        | "find_map" | "try_fold" | "transpose" | "zip_with" | "reduce" | "extensions" | "load" | "join"
        | "recv" | "poll" | "get_ref" => return None,
        _ if arguments.iter().all(is_foreign) => foreign(),
        _ => return None,
    })
}

/// Methods of slices.
const OF_SLICES: &str = "\
    as_mut_ptr as_ptr binary_search binary_search_by chunks concat contains copy_from_slice ends_with fill first first_mut \
    get get_mut is_empty iter iter_mut join last last_mut len repeat reverse rotate_left rotate_right sort sort_by \
    sort_by_key sort_unstable split_at split_first split_last starts_with swap to_vec windows";

/// Methods of text.
const OF_TEXT: &str = "\
    as_bytes as_ptr bytes char_indices chars contains ends_with eq_ignore_ascii_case find get is_char_boundary is_empty \
    len lines matches parse repeat replace rfind rsplit rsplit_once split split_once split_whitespace splitn starts_with \
    strip_prefix strip_suffix to_ascii_lowercase to_ascii_uppercase to_lowercase to_owned to_string to_uppercase trim \
    trim_end trim_start";

/// Methods that only growable text has.
const OF_STRINGS: &str = "\
    as_str capacity clear pop push push_str";

/// Methods that only a vector has.
const OF_VECTORS: &str = "\
    append as_mut_slice as_slice capacity clear dedup drain extend_from_slice insert pop push remove reserve resize retain \
    shrink_to_fit swap_remove truncate";

/// Methods of paths.
const OF_PATHS: &str = "\
    canonicalize components display ends_with exists extension file_name file_stem is_absolute is_dir is_file join parent \
    starts_with strip_prefix to_path_buf to_str to_string_lossy with_extension";

/// Returns true if a common deref target has a method: text, slices, and their containers.
pub(super) fn has_method(of: &str, method: &str) -> bool {
    let lists: &[&str] = match of {
        "str" => &[OF_TEXT],
        "String" => &[OF_TEXT, OF_STRINGS],
        "[]" => &[OF_SLICES],
        "Vec" => &[OF_SLICES, OF_VECTORS],
        "Path" | "PathBuf" => &[OF_PATHS],
        _ => &[],
    };
    lists.iter().any(|list| is_listed(list, method))
}

fn is_listed(list: &str, name: &str) -> bool {
    list.split(' ').any(|listed| listed == name)
}

/// Returns true if a type is outside the project, and nothing else is known of it.
pub(super) fn is_nameless(ty: &Ty) -> bool {
    matches!(ty, Ty::Outside(name, _) if &**name == "_")
}

/// Returns true if a type contains nothing of the project.
pub(super) fn is_foreign(ty: &Ty) -> bool {
    match ty {
        Ty::Outside(_, arguments) | Ty::Tuple(arguments) => arguments.iter().all(is_foreign),
        Ty::Slice(inner) => is_foreign(inner),
        _ => false,
    }
}

/// Returns true for functions of the standard library that return any type they are given.
pub(super) fn gives_anything(path: &str) -> bool {
    let parts: Vec<&str> = path.split("::").collect();
    !matches!(
        parts.first(),
        Some(&("std" | "core" | "alloc" | "str" | "char" | "fs" | "env" | "thread" | "process"))
    ) || parts.iter().any(|part| {
        matches!(
            *part,
            "mem"
                | "iter"
                | "ptr"
                | "cmp"
                | "convert"
                | "hint"
                | "panic"
                | "array"
                | "spawn"
                | "slice"
                | "default"
        )
    })
}

/// Methods that many types outside the project have, so that an unknown receiver is probably not ours.
const COMMON: &str = "\
    abs add all and and_then any append as_bytes as_mut as_ptr as_ref as_slice as_str borrow borrow_mut bytes capacity \
    chain chars checked_add clear clone cloned cmp collect contains contains_key copied count dedup deref drain drop \
    elapsed end ends_with entry enumerate eq err expect extend filter filter_map find find_map first flat_map flatten \
    flush fmt fold for_each from get get_mut get_or_insert_with hash index insert insert_str into into_inner into_iter \
    is_char_boundary is_empty is_err is_none is_ok is_some iter iter_mut join keys kind last len lines load lock map \
    map_err max min ne next next_back nth ok ok_or or or_else parse path peek poll pop position push push_str read \
    read_to_end recv remove replace reserve resize retain rev send set skip sort source split split_at start starts_with \
    store sub sum swap take then to_owned to_string to_vec trim truncate try_from try_into unwrap unwrap_or \
    unwrap_or_default unwrap_or_else values wait windows with_capacity write write_all write_str zip";

pub(super) fn is_common_method(name: &str) -> bool {
    is_listed(COMMON, name)
}

/// Returns the type of a path outside the project, by naming conventions. `surely` is set if it is known
/// to be outside.
pub(super) fn external_type(path: &str, surely: bool) -> Ty {
    let mut parts = path.rsplit("::");
    let last = parts.next().unwrap_or_default();
    let before = parts.next();
    let capital = |name: &str| name.starts_with(|c: char| c.is_uppercase());
    let plain = |name: &str| Ty::Outside(name.into(), Vec::new());
    match before {
        // `String::from`, `u32::MAX`: something of that type.
        Some(of) if capital(of) || is_plain(of) => {
            let result = if matches!(of, "Default" | "Iterator" | "From" | "Into" | "Some" | "Ok")
                || is_transparent(of)
            {
                Ty::Unknown
            } else {
                plain(of)
            };
            if capital(last) { result } else { Ty::Function(Box::new(result)) }
        }
        _ if capital(last) && (surely || before.is_some() || is_prelude(last)) => plain(last),
        Some(_) if !gives_anything(path) => Ty::Function(Box::new(plain("_"))),
        _ => Ty::Unknown,
    }
}
