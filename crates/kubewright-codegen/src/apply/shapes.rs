//! Apply configurations of the kinds of a group and of the types of their fields, from the shapes of the types.

mod recursion;

use std::collections::BTreeMap;

use kubewright_core::{
    apply::{Shape, Struct, Type},
    meta::{ClientVerb, Method},
};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::{Alias, Configuration, Field, FieldType, Root, applies_kind, is_applied, kubernetes};
use crate::{
    api::{ClientKind, Group},
    diagnostic::Diagnostics,
    names,
};

/// Returns the configurations of the kinds of a group, each followed by those of its fields, and aliases of types that
/// are applied atomically.
pub(crate) fn configurations_of_group(group: &Group, errors: &mut Diagnostics) -> (Vec<Configuration>, Vec<Alias>) {
    let mut builder = Builder { errors, names: BTreeMap::new(), configurations: Vec::new(), aliases: Vec::new() };
    let shape = |kind: &ClientKind| match kind.meta.apply.map(|shape| shape()) {
        Some(Shape::Struct(shape)) => Some(shape),
        _ => None,
    };
    let kinds = || group.kinds.iter().filter(|kind| is_applied(kind)).filter_map(|kind| Some((kind, shape(kind)?)));
    // The names of these configurations are part of the clients. Those of their fields are chosen around them.
    for (kind, shape) in kinds() {
        builder.reserve(&kind.type_named("Apply"), &path(shape.rust_type));
    }
    for shape in group.kinds.iter().flat_map(inputs).map(|(_, shape)| shape) {
        builder.reserve(&configuration_name(&shape), &path(shape.rust_type));
    }
    for (kind, shape) in kinds() {
        builder.add_kind(kind, &shape);
    }
    for kind in &group.kinds {
        builder.add_inputs(kind);
    }
    recursion::add_boxes(&mut builder.configurations);
    (builder.configurations, builder.aliases)
}

/// Returns the inputs of methods that apply another type than the kind, each with the index of its method.
fn inputs(kind: &ClientKind) -> Vec<(usize, Struct)> {
    let methods = kind.meta.methods.iter().enumerate().filter(|(_, method)| method.verb == ClientVerb::Apply);
    let input = |(i, method): (usize, &Method)| match method.input.map(|shape| shape()) {
        Some(Shape::Struct(shape)) => Some((i, shape)),
        _ => None,
    };
    methods.filter_map(input).collect()
}

/// Returns the path of a type in Rust.
fn path(rust_type: Type) -> String {
    format!("{}::{}", rust_type.module, rust_type.name)
}

/// Returns the name of the configuration of a struct that is not a kind, whose generated items can have another name.
fn configuration_name(shape: &Struct) -> Ident {
    format_ident!("{}Apply", shape.rust_type.name)
}

struct Builder<'a> {
    errors: &'a mut Diagnostics,
    /// Every generated name, with the path of the type or field that it is generated for.
    names: BTreeMap<String, String>,
    configurations: Vec<Configuration>,
    aliases: Vec<Alias>,
}

impl Builder<'_> {
    fn add_kind(&mut self, kind: &ClientKind, shape: &Struct) {
        let methods = kind.meta.methods.iter().filter(|method| applies_kind(method));
        let status = kind.meta.grants(ClientVerb::ApplyStatus).then_some("status");
        let mut subresources: Vec<_> =
            status.into_iter().chain(methods.filter_map(|m| m.subresource)).map(str::to_owned).collect();
        subresources.sort();
        subresources.dedup();
        let root = Root { ty: kind.ty.clone(), is_namespaced: kind.is_namespaced(), subresources };
        self.add(kind.type_named("Apply"), shape, &kind.ty, kind.linked(), Some(root));
    }

    /// Adds the configurations of the inputs of methods that apply another type than the kind.
    fn add_inputs(&mut self, kind: &ClientKind) {
        for (i, shape) in inputs(kind) {
            let (ty, index) = (&kind.ty, Literal::usize_unsuffixed(i));
            let input = quote!(<#ty as kubewright_core::ExtensionMethod<#index>>::Input);
            self.add(configuration_name(&shape), &shape, &input, format!("`{}`", shape.rust_type.name), None);
        }
    }

    /// Adds the configuration of a struct and of the types of its fields, if it does not exist yet.
    fn add(&mut self, name: Ident, shape: &Struct, ty: &TokenStream, target: String, root: Option<Root>) {
        if self.configurations.iter().any(|configuration| configuration.name == name) {
            return;
        }
        let is_root = root.is_some();
        let position = self.configurations.len();
        let rename_all = shape.rename_all.map(str::to_owned);
        let docs = shape.docs.to_owned();
        self.configurations.push(Configuration { name, target, docs, rename_all, fields: Vec::new(), root });
        for field in shape.fields.iter().filter(|field| !(is_root && field.name == "metadata")) {
            let index = Literal::usize_unsuffixed(field.index);
            let leaf = quote!(FieldOf<#ty, #index>);
            let item = format!("{}::{}.{}", shape.rust_type.module, shape.rust_type.name, field.name);
            let ty = self.field_type((field.shape)(), &leaf, &item);
            self.configurations[position].fields.push(Field {
                name: names::ident(field.name),
                rename: field.rename.map(str::to_owned),
                flatten: field.flatten,
                docs: field.docs.to_owned(),
                ty,
            });
        }
    }

    fn field_type(&mut self, shape: Shape, leaf: &TokenStream, item: &str) -> FieldType {
        match shape {
            Shape::Struct(shape) => {
                let name = self.name(configuration_name(&shape), shape.rust_type);
                self.add(name.clone(), &shape, leaf, format!("`{}`", shape.rust_type.name), None);
                FieldType::Configuration(quote!(#name))
            }
            Shape::Kubernetes(schema) => kubernetes::field_type(&schema).unwrap_or_else(|| {
                let message = format!(
                    "`{schema}` has no apply configuration in kubewright-apply; set `#[apply(atomic)]` on the field to \
                     apply it atomically"
                );
                self.errors.push(item, message);
                FieldType::String
            }),
            Shape::Named("String") => FieldType::String,
            Shape::Named(path) => FieldType::Atomic(path.parse().expect("kubewright-core names types by their paths")),
            Shape::Atomic(inner) => FieldType::Atomic(self.alias(inner, leaf, item)),
            Shape::List(inner) => FieldType::List(Box::new(self.field_type(*inner, leaf, item))),
            Shape::Map(inner) => FieldType::Map(Box::new(self.field_type(*inner, leaf, item))),
            Shape::Nullable(inner) => FieldType::Nullable(Box::new(self.field_type(*inner, leaf, item))),
        }
    }

    /// Returns a name for a type that is applied atomically: that of the type, or of the field if the type has none.
    fn alias(&mut self, rust_type: Option<Type>, leaf: &TokenStream, item: &str) -> TokenStream {
        let (module, field) = item.rsplit_once("::").unwrap_or_default();
        let name = match rust_type {
            Some(rust_type) => self.name(names::ident(rust_type.name), rust_type),
            None => {
                let name = names::ident(&names::pascal_case(&field.replace(['.', '#'], "_")));
                self.unique_name(name, module, item)
            }
        };
        if !self.aliases.iter().any(|alias| alias.name == name) {
            let docs = format!("The type of `{field}`.");
            self.aliases.push(Alias { name: name.clone(), docs, ty: leaf.clone() });
        }
        quote!(#name)
    }

    /// Returns the name for a type: the first choice, or one with its module for the second type of a name.
    fn name(&mut self, first: Ident, rust_type: Type) -> Ident {
        self.unique_name(first, rust_type.module, &path(rust_type))
    }

    fn unique_name(&mut self, first: Ident, module: &str, owner: &str) -> Ident {
        let is_free = |name: &Ident| self.names.get(&name.to_string()).is_none_or(|other| other == owner);
        let name = match is_free(&first) {
            true => first,
            false => format_ident!("{}{first}", names::pascal_case(module.rsplit("::").next().unwrap_or_default())),
        };
        self.reserve(&name, owner);
        name
    }

    /// Reserves a name for a type or field. Two of them with the same name are an error.
    fn reserve(&mut self, name: &Ident, owner: &str) {
        if let Some(other) = self.names.insert(name.to_string(), owner.to_owned()).filter(|other| other != owner) {
            let message = format!("its generated type `{name}` conflicts with that of `{other}`; rename one of them");
            self.errors.push(owner, message);
        }
    }
}
