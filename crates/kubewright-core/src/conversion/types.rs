//! Conversions of standard types: lists, maps and boxes of converted types, and numbers.

use std::collections::{BTreeMap, HashMap};

use super::{
    ConvertTo, Narrows,
    plan::{Conversion, Number},
};

impl<Spoke: ConvertTo<Hub>, Hub> ConvertTo<Vec<Hub>> for Vec<Spoke> {
    fn conversion() -> Conversion {
        Conversion::List(Spoke::conversion)
    }
}

impl<Spoke: ConvertTo<Hub>, Hub> ConvertTo<Box<Hub>> for Box<Spoke> {
    fn conversion() -> Conversion {
        Spoke::conversion()
    }
}

impl<Key, Spoke: ConvertTo<Hub>, Hub> ConvertTo<BTreeMap<Key, Hub>> for BTreeMap<Key, Spoke> {
    fn conversion() -> Conversion {
        Conversion::Map(Spoke::conversion)
    }
}

impl<Key, Spoke: ConvertTo<Hub>, Hub, State> ConvertTo<HashMap<Key, Hub, State>> for HashMap<Key, Spoke, State> {
    fn conversion() -> Conversion {
        Conversion::Map(Spoke::conversion)
    }
}

impl<Spoke: Narrows<Hub>, Hub> Narrows<Vec<Hub>> for Vec<Spoke> {
    fn narrowing() -> Conversion {
        Conversion::List(Spoke::narrowing)
    }
}

impl<Key, Spoke: Narrows<Hub>, Hub> Narrows<BTreeMap<Key, Hub>> for BTreeMap<Key, Spoke> {
    fn narrowing() -> Conversion {
        Conversion::Map(Spoke::narrowing)
    }
}

impl<Key, Spoke: Narrows<Hub>, Hub, State> Narrows<HashMap<Key, Hub, State>> for HashMap<Key, Spoke, State> {
    fn narrowing() -> Conversion {
        Conversion::Map(Spoke::narrowing)
    }
}

/// A numeric type of Rust.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number, so the declared loss does not explain the difference",
    label = "this field has another type in the hub",
    note = "`store` and `lost` apply to numbers of another width; convert other types with functions: \
            `#[convert(with = module)]`"
)]
pub trait NumberType {
    /// Its range.
    const NUMBER: Number;
}

macro_rules! integers {
    ($($ty:ident)*) => {$(
        impl NumberType for $ty {
            const NUMBER: Number = Number::Integer($ty::MIN as i128, $ty::MAX as i128);
        }
    )*};
}

integers! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize }

impl NumberType for f32 {
    const NUMBER: Number = Number::Single;
}

impl NumberType for f64 {
    const NUMBER: Number = Number::Double;
}

impl<Spoke: NumberType, Hub: NumberType> Narrows<Hub> for Spoke {
    fn narrowing() -> Conversion {
        Conversion::Number { spoke: Spoke::NUMBER, hub: Hub::NUMBER }
    }
}
