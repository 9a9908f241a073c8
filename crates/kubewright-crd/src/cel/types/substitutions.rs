//! Type inference: assignability and the substitution of type parameters (`checker/types.go` of cel-go).

use std::collections::HashMap;

use super::cel_type::Type;

/// The types that are inferred for type parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Substitutions {
    inferred: HashMap<usize, Type>,
    next_param: usize,
}

impl Substitutions {
    /// Creates a type parameter without a substitution.
    pub(crate) fn new_param(&mut self) -> Type {
        self.next_param += 1;
        Type::Param(self.next_param - 1)
    }

    /// Substitutes the inferred types. Parameters without one become `dyn` if `param_to_dyn` is set.
    pub(crate) fn apply(&self, t: &Type, param_to_dyn: bool) -> Type {
        match t {
            Type::Param(param) => match self.inferred.get(param) {
                Some(inferred) => self.apply(inferred, param_to_dyn),
                None if param_to_dyn => Type::Dyn,
                None => t.clone(),
            },
            other => other.map_params(&mut |inner| self.apply(inner, param_to_dyn)),
        }
    }

    /// Whether each type is assignable to its counterpart. New substitutions are stored only if all are.
    pub(crate) fn assign_all(&mut self, from: &[Type], to: &[Type]) -> bool {
        let mut candidate = self.clone();
        let assignable = from.len() == to.len() && candidate.unify_all(from.iter().zip(to));
        if assignable {
            *self = candidate;
        }
        assignable
    }

    /// Whether a type is assignable to another one.
    pub(crate) fn assign(&mut self, from: &Type, to: &Type) -> bool {
        self.assign_all(std::slice::from_ref(from), std::slice::from_ref(to))
    }

    fn unify_all<'a>(&mut self, mut pairs: impl Iterator<Item = (&'a Type, &'a Type)>) -> bool {
        pairs.all(|(from, to)| self.unify(from, to))
    }

    fn unify(&mut self, from: &Type, to: &Type) -> bool {
        if let Type::Param(param) = to {
            let (valid, had_substitution) = self.substitute(from, *param);
            if valid || had_substitution {
                return valid;
            }
        }
        if let Type::Param(param) = from {
            return self.substitute(to, *param).0;
        }
        if from.is_dyn_or_error() || to.is_dyn_or_error() {
            return true;
        }
        if matches!(from, Type::Null) {
            return to.is_nullable();
        }
        if matches!(to, Type::Null) {
            return from.is_nullable();
        }
        if matches!((from, to), (Type::Metatype(_), Type::Metatype(_))) {
            return true;
        }
        let (from_params, to_params) = (from.params(), to.params());
        from.same_kind(to)
            && from_params.len() == to_params.len()
            && self.unify_all(from_params.into_iter().zip(to_params))
    }

    /// Whether a type is a valid substitution for a parameter, and whether the parameter already had one.
    fn substitute(&mut self, t: &Type, param: usize) -> (bool, bool) {
        if *t == Type::Param(param) {
            return (true, true);
        }
        if let Some(inferred) = self.inferred.get(&param).cloned() {
            if *t == inferred {
                return (true, true);
            }
            if self.unify(t, &inferred) {
                let general = t.clone().most_general(inferred);
                if !self.occurs_in(param, &general) {
                    self.inferred.insert(param, general);
                }
                return (true, true);
            }
            return (false, true);
        }
        let valid = !self.occurs_in(param, t);
        if valid {
            self.inferred.insert(param, t.clone());
        }
        (valid, false)
    }

    /// The occurs check: whether a type contains the parameter.
    fn occurs_in(&self, param: usize, t: &Type) -> bool {
        match t {
            Type::Param(other) if *other == param => true,
            Type::Param(other) => self.inferred.get(other).is_some_and(|inferred| self.occurs_in(param, inferred)),
            other => other.params().into_iter().any(|inner| self.occurs_in(param, inner)),
        }
    }
}
