//! Infers the types of lists, maps and messages.

use super::Checker;
use crate::cel::{
    syntax::{Expr, Id, ListElement, MapEntry, StructExpr, StructField},
    types::{ObjectType, Type},
};

impl Checker<'_> {
    pub(super) fn list(&mut self, elements: &mut [ListElement]) -> Type {
        let mut joined = None;
        for element in elements {
            self.check(&mut element.value);
            let t = self.element_type(&element.value, element.is_optional);
            joined = Some(self.join_types(joined, t));
        }
        Type::list(joined.unwrap_or_else(|| self.substitutions.new_param()))
    }

    /// The type of an element; the inner type if the element is optional.
    fn element_type(&mut self, value: &Expr, is_optional: bool) -> Type {
        let t = self.type_of(value);
        if !is_optional {
            return t;
        }
        match t.unwrap_optional() {
            (inner, true) => inner.clone(),
            (Type::Dyn, false) => t,
            _ => {
                self.type_mismatch(value.id, &Type::optional(t.clone()), &t);
                t
            }
        }
    }

    pub(super) fn map(&mut self, entries: &mut [MapEntry]) -> Type {
        let (mut keys, mut values) = (None, None);
        for entry in entries {
            self.check(&mut entry.key);
            let key = self.type_of(&entry.key);
            keys = Some(self.join_types(keys, key));
            self.check(&mut entry.value);
            let value = self.element_type(&entry.value, entry.is_optional);
            values = Some(self.join_types(values, value));
        }
        let key = keys.unwrap_or_else(|| self.substitutions.new_param());
        Type::map(key, values.unwrap_or_else(|| self.substitutions.new_param()))
    }

    /// The common type of elements. A validator rejects mixed literals later, because `format` allows them.
    fn join_types(&mut self, joined: Option<Type>, next: Type) -> Type {
        match joined {
            None => next,
            Some(joined) if self.substitutions.assign(&joined, &next) => joined.most_general(next),
            Some(_) => Type::Dyn,
        }
    }

    /// Checks the construction of a message. Neither types of schemas nor protocol buffer messages can be constructed.
    pub(super) fn struct_expr(&mut self, id: Id, message: &mut StructExpr) -> Type {
        let name = message.type_name.clone();
        if let Some(object) = self.messages.and_then(|find| find(&name)) {
            for field in &mut message.fields {
                self.initializer(field, &object);
            }
            return Type::Object(object);
        }
        for field in &mut message.fields {
            self.check(&mut field.value);
        }
        match self.lookup(&name) {
            None => self.undeclared_reference(id, &name, None),
            Some(Type::Metatype(Some(t))) => self.report(id, format!("'{t}' is not a message type")),
            Some(t) => self.report(id, format!("'{t}' is not a type")),
        }
        Type::Error
    }

    /// Checks the initializer of a field of a message.
    fn initializer(&mut self, field: &mut StructField, object: &ObjectType) {
        self.check(&mut field.value);
        let found = self.element_type(&field.value, field.is_optional);
        match object.field(&field.name) {
            None => self.undefined_field(field.id, &field.name, object),
            Some(expected) if !self.substitutions.assign(&expected, &found) => {
                let name = &field.name;
                let message = format!("expected type of field '{name}' is '{expected}' but provided type is '{found}'");
                self.report(field.id, message);
            }
            Some(_) => {}
        }
    }
}
