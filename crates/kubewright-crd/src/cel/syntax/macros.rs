//! Expands the macros of the server's environment: presence tests, comprehensions and variable bindings.

use super::{
    ast::{ACCUMULATOR, Comprehension, Expr, ExprKind, ListElement, Literal, Select},
    factory::ExprFactory,
    operator,
};

/// The iteration variable of a binding, whose loop never runs. Its name is no identifier.
const UNUSED_ITER_VAR: &str = "#unused";

/// Creates a global call, or expands it if it is a macro.
pub(crate) fn global_call(factory: &mut ExprFactory, offset: usize, function: String, mut args: Vec<Expr>) -> Expr {
    if function != "has" || args.len() != 1 {
        return factory.call(offset, function, args);
    }
    match args.remove(0) {
        Expr { kind: ExprKind::Select(select), .. } => {
            let test = Select { is_test_only: true, ..*select };
            factory.expr(offset, ExprKind::Select(Box::new(test)))
        }
        other => {
            let offset = factory.offset(other.id);
            factory.report_error(offset, "invalid argument to has() macro")
        }
    }
}

/// Creates a member call, or expands it if it is a macro.
pub(crate) fn member_call(
    factory: &mut ExprFactory,
    offset: usize,
    function: String,
    target: Expr,
    args: Vec<Expr>,
) -> Expr {
    let mut expander = MacroExpander { factory, offset };
    let expanded = match (function.as_str(), args.len()) {
        ("all" | "exists" | "exists_one", 2) => expander.quantifier(&function, target, args),
        ("map" | "filter", 2) | ("map", 3) => expander.map_or_filter(&function, target, args),
        ("all" | "exists" | "exists_one" | "existsOne", 3) => expander.two_variable_quantifier(&function, target, args),
        ("transformList" | "transformMap" | "transformMapEntry", 3 | 4) => expander.transform(&function, target, args),
        ("optMap" | "optFlatMap", 2) => expander.optional_map(&function, target, args),
        ("sortBy", 2) => expander.sort_by(target, args),
        _ => return factory.member_call(offset, function, target, args),
    };
    expanded.unwrap_or_else(|MacroError { offset, message }| factory.report_error(offset, message))
}

/// The arguments of a macro call are invalid.
struct MacroError {
    offset: usize,
    message: String,
}

type Expansion = Result<Expr, MacroError>;

/// The iteration variables of a comprehension.
struct IterVars(String, Option<String>);

/// The parts of a comprehension that determine its result.
struct Fold {
    accu_init: Expr,
    loop_condition: Expr,
    loop_step: Expr,
    result: Expr,
}

struct MacroExpander<'a> {
    factory: &'a mut ExprFactory,
    /// The offset of the call, which all nodes of its expansion share.
    offset: usize,
}

impl MacroExpander<'_> {
    fn literal(&mut self, value: Literal) -> Expr {
        self.factory.literal(self.offset, value)
    }

    fn ident(&mut self, name: &str) -> Expr {
        self.factory.ident(self.offset, name)
    }

    fn accumulator(&mut self) -> Expr {
        self.ident(ACCUMULATOR)
    }

    fn call(&mut self, function: &str, args: Vec<Expr>) -> Expr {
        self.factory.call(self.offset, function, args)
    }

    fn member_call(&mut self, function: &str, target: Expr, args: Vec<Expr>) -> Expr {
        self.factory.member_call(self.offset, function, target, args)
    }

    fn list(&mut self, values: Vec<Expr>) -> Expr {
        let elements = values.into_iter().map(|value| ListElement { value, is_optional: false }).collect();
        self.factory.expr(self.offset, ExprKind::List(elements))
    }

    fn empty_map(&mut self) -> Expr {
        self.factory.expr(self.offset, ExprKind::Map(Vec::new()))
    }

    fn comprehension(&mut self, iter_range: Expr, IterVars(iter_var, iter_var2): IterVars, fold: Fold) -> Expr {
        let Fold { accu_init, loop_condition, loop_step, result } = fold;
        let accu_var = ACCUMULATOR.to_owned();
        let comprehension =
            Comprehension { iter_range, iter_var, iter_var2, accu_var, accu_init, loop_condition, loop_step, result };
        self.factory.expr(self.offset, ExprKind::Comprehension(Box::new(comprehension)))
    }

    fn error(&self, at: &Expr, message: impl Into<String>) -> MacroError {
        MacroError { offset: self.factory.offset(at.id), message: message.into() }
    }

    /// The name of an iteration variable; `not_a_name` is the error for an argument that is no identifier.
    fn iter_var(&self, arg: &Expr, not_a_name: &str) -> Result<String, MacroError> {
        match &arg.kind {
            ExprKind::Ident(name) if name == "__result__" => {
                Err(self.error(arg, "iteration variable overwrites accumulator variable"))
            }
            ExprKind::Ident(name) => Ok(name.clone()),
            _ => Err(self.error(arg, not_a_name)),
        }
    }

    fn two_iter_vars(&self, first: &Expr, second: &Expr) -> Result<IterVars, MacroError> {
        let name = |arg: &Expr| match &arg.kind {
            ExprKind::Ident(name) => Ok(name.clone()),
            _ => Err(self.error(arg, "argument must be a simple name")),
        };
        let names = (name(first)?, name(second)?);
        if names.0 == names.1 {
            return Err(self.error(second, format!("duplicate variable name: {}", names.0)));
        }
        self.iter_var(first, "")?;
        self.iter_var(second, "")?;
        Ok(IterVars(names.0, Some(names.1)))
    }

    fn quantifier(&mut self, function: &str, range: Expr, args: Vec<Expr>) -> Expansion {
        let [name, predicate] = exactly(args);
        let iter_var = self.iter_var(&name, "argument must be a simple name")?;
        Ok(self.quantified(function, range, IterVars(iter_var, None), predicate))
    }

    fn two_variable_quantifier(&mut self, function: &str, range: Expr, args: Vec<Expr>) -> Expansion {
        let [first, second, predicate] = exactly(args);
        let iter_vars = self.two_iter_vars(&first, &second)?;
        Ok(self.quantified(function, range, iter_vars, predicate))
    }

    fn quantified(&mut self, function: &str, range: Expr, iter_vars: IterVars, predicate: Expr) -> Expr {
        let fold = match function {
            "all" => self.logical_fold(true, predicate),
            "exists" => self.logical_fold(false, predicate),
            _ => self.counting_fold(predicate),
        };
        self.comprehension(range, iter_vars, fold)
    }

    /// The fold of `all`, whose neutral element is true, or of `exists`.
    fn logical_fold(&mut self, neutral: bool, predicate: Expr) -> Fold {
        let accu_init = self.literal(Literal::Bool(neutral));
        let mut undecided = self.accumulator();
        if !neutral {
            undecided = self.call(operator::NOT, vec![undecided]);
        }
        let loop_condition = self.call(operator::NOT_STRICTLY_FALSE, vec![undecided]);
        let accumulator = self.accumulator();
        let loop_step = self.call(if neutral { operator::AND } else { operator::OR }, vec![accumulator, predicate]);
        Fold { accu_init, loop_condition, loop_step, result: self.accumulator() }
    }

    /// The fold of `exists_one`.
    fn counting_fold(&mut self, predicate: Expr) -> Fold {
        let accu_init = self.literal(Literal::Int(0));
        let loop_condition = self.literal(Literal::Bool(true));
        let (count, increment) = (self.accumulator(), self.literal(Literal::Int(1)));
        let incremented = self.call(operator::ADD, vec![count, increment]);
        let unchanged = self.accumulator();
        let loop_step = self.call(operator::CONDITIONAL, vec![predicate, incremented, unchanged]);
        let (count, increment) = (self.accumulator(), self.literal(Literal::Int(1)));
        let result = self.call(operator::EQUALS, vec![count, increment]);
        Fold { accu_init, loop_condition, loop_step, result }
    }

    fn map_or_filter(&mut self, function: &str, range: Expr, mut args: Vec<Expr>) -> Expansion {
        let name = args.remove(0);
        let iter_var = self.iter_var(&name, "argument is not an identifier")?;
        let last = args.pop().expect("the macro has two or three arguments");
        let (predicate, value) = match function {
            "filter" => (Some(last), name),
            _ => (args.pop(), last),
        };
        let accu_init = self.list(Vec::new());
        let item = self.list(vec![value]);
        let accumulator = self.accumulator();
        let extended = self.call(operator::ADD, vec![accumulator, item]);
        Ok(self.collecting(range, IterVars(iter_var, None), accu_init, extended, predicate))
    }

    /// Creates a comprehension that replaces its accumulator by `extended` for each element that fits the predicate.
    fn collecting(
        &mut self,
        range: Expr,
        iter_vars: IterVars,
        accu_init: Expr,
        extended: Expr,
        predicate: Option<Expr>,
    ) -> Expr {
        let loop_condition = self.literal(Literal::Bool(true));
        let loop_step = match predicate {
            None => extended,
            Some(predicate) => {
                let unchanged = self.accumulator();
                self.call(operator::CONDITIONAL, vec![predicate, extended, unchanged])
            }
        };
        let result = self.accumulator();
        self.comprehension(range, iter_vars, Fold { accu_init, loop_condition, loop_step, result })
    }

    fn transform(&mut self, function: &str, range: Expr, mut args: Vec<Expr>) -> Expansion {
        let iter_vars = self.two_iter_vars(&args[0], &args[1])?;
        let value = args.pop().expect("the macro has three or four arguments");
        let predicate = args.drain(2..).next();
        let accumulator = self.accumulator();
        let (accu_init, extended) = match function {
            "transformList" => {
                let item = self.list(vec![value]);
                let extended = self.call(operator::ADD, vec![accumulator, item]);
                (self.list(Vec::new()), extended)
            }
            "transformMap" => {
                let key = self.ident(&iter_vars.0);
                let extended = self.call(operator::MAP_INSERT, vec![accumulator, key, value]);
                (self.empty_map(), extended)
            }
            _ => {
                let extended = self.call(operator::MAP_INSERT, vec![accumulator, value]);
                (self.empty_map(), extended)
            }
        };
        Ok(self.collecting(range, iter_vars, accu_init, extended, predicate))
    }

    fn optional_map(&mut self, function: &str, target: Expr, args: Vec<Expr>) -> Expansion {
        let [name, body] = exactly(args);
        let ExprKind::Ident(variable) = &name.kind else {
            return Err(self.error(&name, format!("{function}() variable name must be a simple identifier")));
        };
        let copy = self.factory.copy(&target);
        let value = self.member_call("value", copy, Vec::new());
        let has_value = self.member_call("hasValue", target, Vec::new());
        let mut bound = self.binding(variable.clone(), value, body);
        if function == "optMap" {
            bound = self.call("optional.of", vec![bound]);
        }
        let none = self.call("optional.none", Vec::new());
        Ok(self.call(operator::CONDITIONAL, vec![has_value, bound, none]))
    }

    /// Creates `body` with `variable` bound to `value`: a loop over an empty list.
    fn binding(&mut self, variable: String, value: Expr, body: Expr) -> Expr {
        let iter_range = self.list(Vec::new());
        let loop_condition = self.literal(Literal::Bool(false));
        let loop_step = self.ident(&variable);
        let comprehension = Comprehension {
            iter_range,
            iter_var: UNUSED_ITER_VAR.to_owned(),
            iter_var2: None,
            accu_var: variable,
            accu_init: value,
            loop_condition,
            loop_step,
            result: body,
        };
        self.factory.expr(self.offset, ExprKind::Comprehension(Box::new(comprehension)))
    }

    fn sort_by(&mut self, target: Expr, args: Vec<Expr>) -> Expansion {
        const INPUT: &str = "@__sortBy_input__";
        if matches!(target.kind, ExprKind::Literal(_) | ExprKind::Map(_) | ExprKind::Struct(_)) {
            let message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
            return Err(self.error(&target, message));
        }
        let input = self.ident(INPUT);
        let keys = self.map_or_filter("map", input, args)?;
        let input = self.ident(INPUT);
        let sorted = self.member_call(operator::SORT_BY_KEYS, input, vec![keys]);
        Ok(self.binding(INPUT.to_owned(), target, sorted))
    }
}

/// The arguments of a macro that has exactly `N`.
fn exactly<const N: usize>(args: Vec<Expr>) -> [Expr; N] {
    args.try_into().unwrap_or_else(|_| unreachable!("the macro is chosen by its number of arguments"))
}
