//! The strings of facts.

use std::fmt;

use serde::ser::{self, Serialize, Serializer};

use super::Facts;

impl Facts {
    /// Calls `visit` with every string of the facts except those of the uses: names, headers, paths of imports.
    pub fn each_string(&self, visit: &mut dyn FnMut(&str)) {
        let Self { package, definitions, imports, implementations, conditions, missing_exports, .. } = self;
        let parts = (package, definitions, imports, implementations, conditions, missing_exports);
        // Strings are visited without an error.
        let _ = parts.serialize(&mut Strings(visit));
    }
}

/// Visits the strings of a serialized value, and skips everything else.
struct Strings<'v>(&'v mut dyn FnMut(&str));

type Done = Result<(), fmt::Error>;

macro_rules! skipped {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, _: $type) -> Done { Ok(()) })*
    };
}

impl Serializer for &mut Strings<'_> {
    type Ok = ();
    type Error = fmt::Error;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    skipped!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_f32: f32,
        serialize_f64: f64, serialize_char: char, serialize_bytes: &[u8], serialize_unit_struct: &'static str
    );

    fn serialize_str(self, text: &str) -> Done {
        (self.0)(text);
        Ok(())
    }

    fn serialize_none(self) -> Done {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Done {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Done {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Done {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, fmt::Error> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, fmt::Error> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, fmt::Error> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, fmt::Error> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, fmt::Error> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, fmt::Error> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, fmt::Error> {
        Ok(self)
    }
}

macro_rules! visit_parts {
    ($($of:ident: $method:ident($($name:ident)?)),*) => {
        $(impl ser::$of for &mut Strings<'_> {
            type Ok = ();
            type Error = fmt::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, $($name: &'static str,)? value: &T) -> Done {
                $(let _ = $name;)?
                value.serialize(&mut **self)
            }

            fn end(self) -> Done {
                Ok(())
            }
        })*
    };
}

visit_parts!(
    SerializeSeq: serialize_element(),
    SerializeTuple: serialize_element(),
    SerializeTupleStruct: serialize_field(),
    SerializeTupleVariant: serialize_field(),
    SerializeStruct: serialize_field(key),
    SerializeStructVariant: serialize_field(key)
);

impl ser::SerializeMap for &mut Strings<'_> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Done {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        value.serialize(&mut **self)
    }

    fn end(self) -> Done {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::language;

    #[test]
    fn every_string_but_those_of_uses_is_visited() {
        let text = "package kit\n\nimport alias \"other/thing\"\n\ntype Box struct { Base; items map[string]Item }\n\n\
            func (b *Box) Make(count Count) Result { return alias.Call(b) }\n";
        let facts = language::facts("a.go", text);
        let mut found = Vec::new();
        facts.each_string(&mut |text| found.push(text.to_owned()));
        let has = |name: &str| found.iter().any(|candidate| candidate.contains(name));
        for name in ["kit", "alias", "other/thing", "Box", "Base", "Item", "Make", "Count", "Result"] {
            assert!(has(name), "{name}: {found:?}");
        }
        assert!(facts.uses.iter().any(|usage| &*usage.name == "Call") && !has("Call"), "{found:?}");
    }
}
