//! C++ names without their parameter lists. Only a balanced list at the very end goes, at the
//! top level of the name: what stands inside template arguments, lambdas and enclosing
//! functions tells functions apart, and stays.

/// A demangled C++ function name without its parameter list and what follows that list
/// (`const`, `&`); a mark of the compiler (` [clone .cold]`) stays. Names without a list come
/// back as they are.
pub fn without_parameters(name: &str) -> std::borrow::Cow<'_, str> {
    let (function, clones) = match name.find(" [clone ") {
        Some(at) => name.split_at(at),
        None => (name, ""),
    };
    match before_parameters(function) {
        None => name.into(),
        Some(before) if clones.is_empty() => before.into(),
        Some(before) => format!("{before}{clones}").into(),
    }
}

/// What can follow the parameter list of a member function.
const QUALIFIERS: [&str; 6] = [" const", " volatile", " restrict", " &&", " &", " noexcept"];

fn before_parameters(function: &str) -> Option<&str> {
    let mut unqualified = function;
    while let Some(rest) = QUALIFIERS.iter().find_map(|qualifier| unqualified.strip_suffix(qualifier)) {
        unqualified = rest;
    }
    let inside = unqualified.strip_suffix(')')?;
    let mut depth = 1usize;
    for (at, byte) in inside.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let (before, list) = unqualified.split_at(at);
            return is_list_of(before, list).then_some(before);
        }
    }
    None
}

/// Whether `list`, in its parentheses, is the parameter list of a function `before`.
fn is_list_of(before: &str, list: &str) -> bool {
    // `operator()` is a name; its list comes after it.
    let is_call_operator =
        list == "()" && before.strip_suffix("operator").is_some_and(|scope| scope.is_empty() || scope.ends_with("::"));
    let is_scope = list == "(anonymous namespace)";
    !(before.is_empty() || before.ends_with("::") || is_scope || is_call_operator)
}

#[cfg(test)]
mod tests {
    use super::without_parameters;

    #[test]
    fn a_trailing_list_goes() {
        for (name, expected) in [
            ("foo(int, char const*)", "foo"),
            ("ns::foo()", "ns::foo"),
            ("foo(void (*)(int), int (&) [3])", "foo"),
            ("A::f(int) const", "A::f"),
            ("A::f() const &", "A::f"),
            ("A::f() volatile &&", "A::f"),
            (
                "std::vector<int, std::allocator<int> >::push_back(int&&)",
                "std::vector<int, std::allocator<int> >::push_back",
            ),
            ("foo[abi:cxx11](int)", "foo[abi:cxx11]"),
            ("ns::foo(int) [clone .cold]", "ns::foo [clone .cold]"),
            ("foo(int) const [clone .isra.0] [clone .part.1]", "foo [clone .isra.0] [clone .part.1]"),
            ("(anonymous namespace)::foo(int)", "(anonymous namespace)::foo"),
            ("f((anonymous namespace)::A)", "f"),
            ("non-virtual thunk to A::f(int)", "non-virtual thunk to A::f"),
        ] {
            assert_eq!(without_parameters(name), expected);
        }
    }

    #[test]
    fn operators_keep_their_signs() {
        for (name, expected) in [
            ("Foo::operator()(int)", "Foo::operator()"),
            ("Foo::operator()() const", "Foo::operator()"),
            ("operator()", "operator()"),
            ("Foo::operator()", "Foo::operator()"),
            ("operator<<(std::ostream&, Foo const&)", "operator<<"),
            ("std::unique_ptr<X>::operator->() const", "std::unique_ptr<X>::operator->"),
            ("a::operator<(a const&)", "a::operator<"),
            ("A::operator<=>(A const&) const", "A::operator<=>"),
            ("A::operator,(int)", "A::operator,"),
            ("A::operator int() const", "A::operator int"),
            ("A::operator void (*)(int)() const", "A::operator void (*)(int)"),
            ("A::operator std::function<void (int)>()", "A::operator std::function<void (int)>"),
            ("operator new(unsigned long)", "operator new"),
            ("operator delete[](void*, unsigned long)", "operator delete[]"),
            ("operator\"\" _km(long double)", "operator\"\" _km"),
            ("co_operator()", "co_operator"),
        ] {
            assert_eq!(without_parameters(name), expected);
        }
    }

    #[test]
    fn lists_inside_a_name_stay() {
        for (name, expected) in [
            (
                "std::_Function_handler<void (int), f(int)::{lambda(int)#1}>::_M_invoke",
                "std::_Function_handler<void (int), f(int)::{lambda(int)#1}>::_M_invoke",
            ),
            ("foo<(some_enum)0>::bar(int, char const*)", "foo<(some_enum)0>::bar"),
            ("foo<(some_enum)0>", "foo<(some_enum)0>"),
            ("f(int)::{lambda(int)#1}::operator()(int) const", "f(int)::{lambda(int)#1}::operator()"),
            ("f(int)::{lambda(int)#1}", "f(int)::{lambda(int)#1}"),
            ("f(int)::counter", "f(int)::counter"),
            ("call<&(g(int))>(int)", "call<&(g(int))>"),
            ("foo<decltype (g({parm#1}))>(int)", "foo<decltype (g({parm#1}))>"),
            ("guard variable for (anonymous namespace)", "guard variable for (anonymous namespace)"),
            ("rust::foo<'a'>", "rust::foo<'a'>"),
            ("(anonymous namespace)", "(anonymous namespace)"),
            ("A::(anonymous)", "A::(anonymous)"),
        ] {
            assert_eq!(without_parameters(name), expected);
        }
    }

    #[test]
    fn what_is_not_balanced_stays() {
        for name in ["", ")", "foo)", "foo(", "foo(]", "foo(int))", " const", "()", "ü)"] {
            assert_eq!(without_parameters(name), name);
        }
    }
}
