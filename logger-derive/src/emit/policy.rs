//! Emits the admission policies of a kind.

use proc_macro2::TokenStream;
use quote::quote;
use syn::LitStr;

use super::option;
use crate::{
    attr::policy::{ParamsKeys, PolicyKeys},
    model::Policy,
};

/// Emits the policies as data.
pub(super) fn emit(policies: &[Policy], krate: &TokenStream) -> TokenStream {
    let policies = policies.iter().filter_map(|policy| {
        let PolicyKeys { rule, variable, value, .. } = &policy.keys;
        match (rule, policy.default_value(), variable) {
            (Some(rule), _, _) => Some(emit_rule(policy, rule, krate)),
            (_, Some(default), _) => Some(emit_default(policy, default, krate)),
            (_, _, Some(name)) => Some(quote! {
                #krate::meta::Policy::Variable(#krate::meta::PolicyVariable { name: #name, expression: #value })
            }),
            _ => None,
        }
    });
    quote!(&[#(#policies),*])
}

fn emit_rule(policy: &Policy, rule: &LitStr, krate: &TokenStream) -> TokenStream {
    let (settings, actions, keys) = (settings(policy, krate), policy.actions(), &policy.keys);
    let [message, message_expression, reason] =
        [&keys.message, &keys.message_expression, &keys.reason].map(|text| option(text.as_ref()));
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

fn emit_default(policy: &Policy, default: &LitStr, krate: &TokenStream) -> TokenStream {
    let (settings, field) = (settings(policy, krate), option(policy.keys.field.as_ref()));
    let reinvoked = policy.keys.reinvocation.as_ref().is_some_and(|policy| policy.value() == "IfNeeded");
    quote! {
        #krate::meta::Policy::Default(#krate::meta::PolicyDefault {
            policy: #settings,
            expression: #default,
            field: #field,
            reinvoked: #reinvoked,
        })
    }
}

fn settings(policy: &Policy, krate: &TokenStream) -> TokenStream {
    let (name, operations, keys) = (policy.name(), policy.operations(), &policy.keys);
    let condition = option(keys.when.as_ref());
    let ignores_failures = keys.failure_policy.as_ref().is_some_and(|policy| policy.value() == "Ignore");
    let params = option(keys.params.as_ref().map(|params| self::params(params, krate)));
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
