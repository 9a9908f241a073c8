//! Configurations of a group's kinds and of all that is in them, from the shapes of the types.

use std::collections::BTreeMap;

use logger_core::apply::{Shape, Struct, Type};
use logger_core::meta::Verb;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::{Alias, Configuration, Field, Root, Ty, applies_kind, is_applied, kubernetes};
use crate::api::{ClientKind, Group};
use crate::diagnostic::Diagnostics;
use crate::names;

/// The configurations of a group's kinds, each followed by those in it, and names for types that are applied as a whole.
pub(crate) fn of_group(group: &Group, found: &mut Diagnostics) -> (Vec<Configuration>, Vec<Alias>) {
    let mut walk = Walk { found, names: BTreeMap::new(), configurations: Vec::new(), aliases: Vec::new() };
    for kind in group.kinds.iter().filter(|kind| is_applied(kind)) {
        if let Some(Shape::Struct(shape)) = kind.meta.apply.map(|shape| shape()) {
            walk.root(kind, &shape);
        }
    }
    for kind in &group.kinds {
        walk.inputs(kind);
    }
    (walk.configurations, walk.aliases)
}

struct Walk<'a> {
    found: &'a mut Diagnostics,
    /// Every generated name, with the type it is of.
    names: BTreeMap<String, Type>,
    configurations: Vec<Configuration>,
    aliases: Vec<Alias>,
}

impl Walk<'_> {
    fn root(&mut self, kind: &ClientKind, shape: &Struct) {
        let methods = kind.meta.methods.iter().filter(|method| applies_kind(method));
        let status = kind.meta.grants(Verb::ApplyStatus).then_some("status");
        let mut subresources: Vec<_> =
            status.into_iter().chain(methods.filter_map(|m| m.subresource)).map(str::to_owned).collect();
        subresources.sort();
        subresources.dedup();
        let root = Root { ty: kind.ty.clone(), is_namespaced: kind.is_namespaced(), subresources };
        self.add(shape, &kind.ty, kind.linked(), Some(root));
    }

    /// The configurations of what methods apply that is not the kind itself.
    fn inputs(&mut self, kind: &ClientKind) {
        for (i, method) in kind.meta.methods.iter().enumerate().filter(|(_, method)| method.verb == Verb::Apply) {
            if let Some(Shape::Struct(shape)) = method.input.map(|shape| shape()) {
                let (ty, index) = (&kind.ty, Literal::usize_unsuffixed(i));
                let input = quote!(<#ty as logger_core::ExtensionMethod<#index>>::Input);
                self.add(&shape, &input, format!("`{}`", shape.of.name), None);
            }
        }
    }

    /// Adds the configuration of a struct, if it is not there, and of all that is in it.
    fn add(&mut self, shape: &Struct, ty: &TokenStream, of: String, root: Option<Root>) {
        let name = format_ident!("{}Apply", shape.of.name);
        if !self.takes(&name, shape.of) {
            return;
        }
        let is_root = root.is_some();
        let place = self.configurations.len();
        let rename_all = shape.rename_all.map(str::to_owned);
        let docs = shape.docs.to_owned();
        self.configurations.push(Configuration { name, of, docs, rename_all, fields: Vec::new(), root });
        for field in shape.fields.iter().filter(|field| !(is_root && field.name == "metadata")) {
            let index = Literal::usize_unsuffixed(field.place);
            let leaf = quote!(FieldOf<#ty, #index>);
            let item = format!("{}::{}.{}", shape.of.module, shape.of.name, field.name);
            let ty = self.ty((field.shape)(), &leaf, &item);
            self.configurations[place].fields.push(Field {
                name: names::ident(field.name),
                rename: field.rename.map(str::to_owned),
                flatten: field.flatten,
                docs: field.docs.to_owned(),
                ty,
            });
        }
    }

    fn ty(&mut self, shape: Shape, leaf: &TokenStream, item: &str) -> Ty {
        match shape {
            Shape::Struct(shape) => {
                self.add(&shape, leaf, format!("`{}`", shape.of.name), None);
                let name = format_ident!("{}Apply", shape.of.name);
                Ty::Configuration(quote!(#name))
            }
            Shape::Kubernetes(schema) => kubernetes::ty(&schema).unwrap_or_else(|| {
                let message = format!(
                    "`{schema}` has no apply configuration in logger-apply; say `#[apply(atomic)]` on the field to \
                     apply it as a whole"
                );
                self.found.push(item, message);
                Ty::Text
            }),
            Shape::Named("String") => Ty::Text,
            Shape::Named(path) => Ty::Whole(path.parse().expect("logger-core names types by their paths")),
            Shape::Whole(of) => Ty::Whole(self.alias(of, leaf, item)),
            Shape::List(of) => Ty::List(Box::new(self.ty(*of, leaf, item))),
            Shape::Map(of) => Ty::Map(Box::new(self.ty(*of, leaf, item))),
            Shape::Nullable(of) => Ty::Nullable(Box::new(self.ty(*of, leaf, item))),
        }
    }

    /// A name for a type that is applied as a whole: its own, or where it has none that of the field.
    fn alias(&mut self, of: Option<Type>, leaf: &TokenStream, item: &str) -> TokenStream {
        let field = item.rsplit("::").next().unwrap_or(item);
        let (name, of) = match of {
            Some(of) => (names::ident(of.name), of),
            None => {
                let name = names::pascal(&field.replace(['.', '#'], "_"));
                (names::ident(&name), Type { name: "", module: "" })
            }
        };
        if self.takes(&name, of) {
            let of = format!("The type of `{field}`.");
            self.aliases.push(Alias { name: name.clone(), of, ty: leaf.clone() });
        }
        quote!(#name)
    }

    /// Takes a name for a type; not if it has it already. Two types of one name are a mistake.
    fn takes(&mut self, name: &Ident, of: Type) -> bool {
        match self.names.insert(name.to_string(), of) {
            None => true,
            Some(other) => {
                if other != of {
                    let message = format!(
                        "its generated type `{name}` is that of `{}::{}` too; rename one of them",
                        other.module, other.name
                    );
                    self.found.push(format!("{}::{}", of.module, of.name), message);
                }
                false
            }
        }
    }
}
