//! `#[policy(..)]`: admission policies of a kind.

pub(crate) mod check;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, LitStr};

use crate::{
    attr::{
        self,
        policy::{DefaultValue, ParamsKeys, PolicyKeys},
    },
    errors::Errors,
};

/// One `#[policy(..)]`.
pub(crate) struct Policy {
    pub(crate) attribute: Attribute,
    pub(crate) keys: PolicyKeys,
    /// Whether a key was rejected, so that a missing key is not reported.
    pub(crate) incomplete: bool,
}

/// Parses each attribute of a kind.
pub(crate) fn parse(attrs: &[Attribute], errors: &mut Errors) -> Vec<Policy> {
    let parse = |attribute: &Attribute| {
        let mut rejected = Errors::default();
        let keys = attr::parse("policy", std::slice::from_ref(attribute), &mut rejected);
        let incomplete = !rejected.is_empty();
        errors.append(rejected);
        Policy { attribute: attribute.clone(), keys, incomplete }
    };
    attr::named("policy", attrs).map(parse).collect()
}

impl PolicyKeys {
    fn has_action(&self, action: &str) -> bool {
        self.actions.iter().any(|declared| declared.value() == action)
    }

    /// Whether requests are denied, which is the default action.
    fn denies(&self) -> bool {
        self.actions.is_empty() || self.has_action("Deny")
    }

    /// The first part of the name of the policy.
    fn policy_name(&self) -> String {
        match &self.name {
            Some(name) => name.value(),
            None if self.default_value.is_some() => "defaults".to_owned(),
            None if self.denies() => "validation".to_owned(),
            None if self.has_action("Warn") => "warning".to_owned(),
            None => "audit".to_owned(),
        }
    }

    fn operation_names(&self) -> Vec<String> {
        match self.operations.as_slice() {
            [] => ["CREATE", "UPDATE"].map(str::to_owned).to_vec(),
            operations => operations.iter().map(LitStr::value).collect(),
        }
    }
}

/// Emits the policies as data.
pub(crate) fn emit(policies: &[Policy], krate: &TokenStream) -> TokenStream {
    let policies = policies.iter().filter_map(|Policy { keys, .. }| {
        let PolicyKeys { rule, default_value, variable, value, .. } = keys;
        match (rule, default_value, variable) {
            (Some(rule), _, _) => Some(emit_rule(keys, rule, krate)),
            (_, Some(DefaultValue(default)), _) => Some(emit_default(keys, default, krate)),
            (_, _, Some(name)) => Some(quote! {
                #krate::meta::Policy::Variable(#krate::meta::PolicyVariable { name: #name, expression: #value })
            }),
            _ => None,
        }
    });
    quote!(&[#(#policies),*])
}

fn emit_rule(keys: &PolicyKeys, rule: &LitStr, krate: &TokenStream) -> TokenStream {
    let settings = settings(keys, krate);
    let [message, message_expression, reason] =
        [&keys.message, &keys.message_expression, &keys.reason].map(|text| option(text.as_ref()));
    let actions: Vec<String> = match keys.actions.as_slice() {
        [] => vec!["Deny".to_owned()],
        actions => actions.iter().map(LitStr::value).collect(),
    };
    quote! {
        #krate::meta::Policy::Rule(#krate::meta::PolicyRule {
            policy: #settings,
            expression: #rule,
            message: #message,
            message_expression: #message_expression,
            reason: #reason,
            actions: &[#(#actions),*],
        })
    }
}

fn emit_default(keys: &PolicyKeys, default: &LitStr, krate: &TokenStream) -> TokenStream {
    let (settings, field) = (settings(keys, krate), option(keys.field.as_ref()));
    let reinvoked = keys.reinvocation.as_ref().is_some_and(|policy| policy.value() == "IfNeeded");
    quote! {
        #krate::meta::Policy::Default(#krate::meta::PolicyDefault {
            policy: #settings,
            expression: #default,
            field: #field,
            reinvoked: #reinvoked,
        })
    }
}

fn settings(keys: &PolicyKeys, krate: &TokenStream) -> TokenStream {
    let (name, operations) = (keys.policy_name(), keys.operation_names());
    let condition = option(keys.when.as_ref());
    let ignores_failures = keys.failure_policy.as_ref().is_some_and(|policy| policy.value() == "Ignore");
    let params = option(keys.params.as_ref().map(|params| self::params(params, krate)).as_ref());
    quote! {
        #krate::meta::PolicySettings {
            name: #name,
            operations: &[#(#operations),*],
            condition: #condition,
            ignores_failures: #ignores_failures,
            params: #params,
        }
    }
}

fn params(params: &ParamsKeys, krate: &TokenStream) -> TokenStream {
    let ParamsKeys { api_version, kind, name, namespace, not_found } = params;
    let (name, namespace) = (option(name.as_ref()), option(namespace.as_ref()));
    let required = not_found.as_ref().is_some_and(|action| action.value() == "Deny");
    quote! {
        #krate::meta::PolicyParams {
            api_version: #api_version,
            kind: #kind,
            name: #name,
            namespace: #namespace,
            required: #required,
        }
    }
}

fn option(value: Option<&impl quote::ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
