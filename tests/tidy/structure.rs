//! Limits of structure: lines of a file, methods of a type, parameters of a function, import cycles.
//!
//! Only production code counts: items under `#[cfg(test)]`, comments and blank lines do not. There are no exceptions.

use crate::source::paths;
use crate::{File, assert_none, layer_of, sources};
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use syn::visit::Visit;

/// Maximum number of lines with code in a file.
const MAX_LINES: usize = 500;
/// Maximum number of methods of a type in all its `impl` blocks.
const MAX_METHODS: usize = 60;
/// Maximum number of methods of `Session`, the type that all user interfaces call.
const MAX_SESSION_METHODS: usize = 40;
/// Maximum number of parameters of a function; members of tuples count one by one, `self` does not count.
const MAX_PARAMETERS: usize = 5;

/// A module: the names below the crate, `["session", "fix", "index"]`.
type Module = Vec<String>;

#[test]
fn files_have_few_lines_of_code() {
    let long = modules().into_iter().filter(|module| module.lines > MAX_LINES);
    let long: Vec<_> = long.map(|module| format!("{}: {}", module.file, module.lines)).collect();
    assert_none(&long, "files with too many lines of code");
}

#[test]
fn types_have_few_methods() {
    let modules = modules();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for module in &modules {
        for name in &module.methods {
            *counts.entry(type_path(&modules, module, name)).or_default() += 1;
        }
    }
    assert!(counts.values().any(|count| *count > 10), "no methods found: the measure is broken");
    let limit = |name: &str| if name.ends_with("::Session") { MAX_SESSION_METHODS } else { MAX_METHODS };
    let many = counts.into_iter().filter(|(name, count)| *count > limit(name));
    let many: Vec<_> = many.map(|(name, count)| format!("{name}: {count}")).collect();
    assert_none(&many, "types with too many methods");
}

#[test]
fn functions_take_few_parameters() {
    let many = modules().into_iter().flat_map(|module| {
        let file = module.file;
        let many = module.parameters.into_iter().filter(|(_, count)| *count > MAX_PARAMETERS);
        many.map(move |(name, count)| format!("{file}:{name}: {count}")).collect::<Vec<_>>()
    });
    assert_none(&many.collect::<Vec<_>>(), "functions with too many parameters, those inside tuples included");
}

#[test]
fn imports_within_a_folder_have_no_cycles() {
    let modules = modules();
    let by_path: BTreeMap<&Module, &Measured> = modules.iter().map(|module| (&module.path, module)).collect();
    let mut edges: BTreeMap<Module, BTreeSet<(String, String)>> = BTreeMap::new();
    for module in &modules {
        for path in &module.imports {
            let Some(target) = resolve(&by_path, &module.path, path) else { continue };
            let shared = module.path.iter().zip(&target).take_while(|(a, b)| a == b).count();
            // A module and its children may import each other.
            if let (Some(from), Some(to)) = (module.path.get(shared), target.get(shared)) {
                let folder = edges.entry(module.path[..shared].to_vec()).or_default();
                folder.insert((from.clone(), to.clone()));
            }
        }
    }
    assert!(edges.len() > 10, "imports in {} folders found: the measure is broken", edges.len());
    let found = edges.iter().filter(|(folder, _)| !folder.is_empty()).flat_map(|(folder, edges)| {
        let folder = folder.join("/");
        cycles(edges).into_iter().map(move |cycle| format!("{folder}: {}", Vec::from_iter(cycle).join(" ")))
    });
    assert_none(&found.collect::<Vec<_>>(), "import circles between files of one folder");
}

/// The measures of one source file.
struct Measured {
    file: String,
    path: Module,
    lines: usize,
    /// The self type of each method of an `impl`.
    methods: Vec<String>,
    /// Types that the file declares.
    types: BTreeSet<String>,
    /// Modules that the file declares.
    children: BTreeSet<String>,
    /// Function name and number of parameters.
    parameters: Vec<(String, usize)>,
    imports: Vec<String>,
    /// Names that the file re-exports: the name and its path, `*` for all names of a module.
    reexports: Vec<(String, String)>,
}

fn modules() -> Vec<Measured> {
    let files = sources("src").into_iter().filter(|file| !file.name.ends_with("tests.rs"));
    let files = files.filter(|file| !file.name.contains("/tests/") && layer_of(file).is_some());
    let measured: Vec<_> = files.map(|file| measure(&file)).collect();
    let test_modules: BTreeSet<Module> = measured.iter().flat_map(|(_, tests)| tests.clone()).collect();
    let is_test = |module: &Measured| (1..=module.path.len()).any(|end| test_modules.contains(&module.path[..end]));
    measured.into_iter().map(|(module, _)| module).filter(|module| !is_test(module)).collect()
}

/// The measure of a file, and the modules that it declares for tests only.
fn measure(file: &File) -> (Measured, Vec<Module>) {
    let syntax = syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.name));
    let path = file.name.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
    let path: Module = path.split('/').map(str::to_owned).collect();
    let mut visitor = Visitor::default();
    visitor.visit_file(&syntax);
    let production = |line: &usize| !visitor.tests.iter().any(|(first, last)| (first..=last).contains(&line));
    let code: Vec<_> =
        file.code.lines().enumerate().filter(|(at, _)| production(&(at + 1))).map(|(_, line)| line).collect();
    let tests = visitor.test_modules.into_iter().map(|name| [path.clone(), vec![name]].concat()).collect();
    let measured = Measured {
        file: file.name.clone(),
        lines: code.iter().filter(|line| !line.trim().is_empty()).count(),
        methods: visitor.methods,
        types: visitor.types,
        children: visitor.children,
        parameters: visitor.parameters,
        imports: paths(&code.join("\n")),
        reexports: visitor.reexports,
        path,
    };
    (measured, tests)
}

#[derive(Default)]
struct Visitor {
    /// First and last line of each item that exists in tests only.
    tests: Vec<(usize, usize)>,
    test_modules: Vec<String>,
    methods: Vec<String>,
    types: BTreeSet<String>,
    children: BTreeSet<String>,
    parameters: Vec<(String, usize)>,
    reexports: Vec<(String, String)>,
}

impl Visitor {
    fn signature(&mut self, signature: &syn::Signature) {
        let count = signature.inputs.iter().map(|input| match input {
            syn::FnArg::Receiver(_) => 0,
            syn::FnArg::Typed(typed) => values(&typed.ty),
        });
        self.parameters.push((signature.ident.to_string(), count.sum()));
    }

    fn reexport(&mut self, prefix: &str, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => self.reexport(&format!("{prefix}{}::", path.ident), &path.tree),
            syn::UseTree::Name(name) => {
                self.reexports.push((name.ident.to_string(), format!("{prefix}{}", name.ident)));
            }
            syn::UseTree::Rename(name) => {
                self.reexports.push((name.rename.to_string(), format!("{prefix}{}", name.ident)));
            }
            syn::UseTree::Glob(_) => self.reexports.push(("*".to_owned(), prefix.trim_end_matches("::").to_owned())),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.reexport(prefix, tree)),
        }
    }
}

/// The number of values of a parameter type: one for each member of a tuple.
fn values(ty: &syn::Type) -> usize {
    match ty {
        syn::Type::Tuple(tuple) => tuple.elems.iter().map(values).sum(),
        syn::Type::Reference(reference) => values(&reference.elem),
        syn::Type::Paren(paren) => values(&paren.elem),
        _ => 1,
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Ident>().is_ok_and(|argument| argument == "test")
    })
}

impl<'a> Visit<'a> for Visitor {
    fn visit_item(&mut self, item: &'a syn::Item) {
        let attributes = match item {
            syn::Item::Const(item) => &item.attrs,
            syn::Item::Enum(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Static(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            syn::Item::Trait(item) => &item.attrs,
            syn::Item::Type(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            _ => &Vec::new(),
        };
        if is_test(attributes) {
            self.tests.push((item.span().start().line, item.span().end().line));
            if let syn::Item::Mod(module) = item {
                self.test_modules.push(module.ident.to_string());
            }
            return;
        }
        match item {
            syn::Item::Fn(item) => self.signature(&item.sig),
            syn::Item::Struct(item) => drop(self.types.insert(item.ident.to_string())),
            syn::Item::Enum(item) => drop(self.types.insert(item.ident.to_string())),
            syn::Item::Mod(item) => drop(self.children.insert(item.ident.to_string())),
            syn::Item::Use(item) => self.reexport("", &item.tree),
            _ => {}
        }
        syn::visit::visit_item(self, item);
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        if let syn::Type::Path(path) = &*item.self_ty
            && let Some(name) = path.path.segments.last()
        {
            for method in &item.items {
                if let syn::ImplItem::Fn(method) = method
                    && !is_test(&method.attrs)
                {
                    self.methods.push(name.ident.to_string());
                    // The trait, not its implementation, decides on the parameters.
                    if item.trait_.is_none() {
                        self.signature(&method.sig);
                    }
                }
            }
        }
        syn::visit::visit_item_impl(self, item);
    }

    fn visit_impl_item_fn(&mut self, method: &'a syn::ImplItemFn) {
        if is_test(&method.attrs) {
            self.tests.push((method.span().start().line, method.span().end().line));
        } else {
            syn::visit::visit_impl_item_fn(self, method);
        }
    }

    fn visit_trait_item_fn(&mut self, method: &'a syn::TraitItemFn) {
        self.signature(&method.sig);
        syn::visit::visit_trait_item_fn(self, method);
    }
}

/// `layer::Type`, with its module where the layer has several types of that name.
fn type_path(modules: &[Measured], module: &Measured, name: &str) -> String {
    let layer = &module.path[0];
    let declares = |path: &[String]| modules.iter().any(|other| other.path == path && other.types.contains(name));
    let own = (1..=module.path.len()).rev().map(|end| &module.path[..end]).find(|path| declares(path));
    let homes = modules.iter().filter(|other| other.path[0] == *layer && other.types.contains(name)).count();
    match own {
        Some(path) if homes > 1 => format!("{}::{name}", path.join("::")),
        _ => format!("{layer}::{name}"),
    }
}

/// The module that a path of `from` leads to, re-exports followed.
fn resolve(modules: &BTreeMap<&Module, &Measured>, from: &Module, path: &str) -> Option<Module> {
    let mut segments: Vec<&str> = path.split("::").collect();
    let mut module = match segments[0] {
        "crate" => Vec::new(),
        "self" => from.clone(),
        "super" => from[..from.len() - 1].to_vec(),
        child if modules.get(from)?.children.contains(child) => [from.clone(), vec![child.to_owned()]].concat(),
        _ => return None,
    };
    segments.remove(0);
    for _ in 0..20 {
        let Some(first) = segments.first().copied() else { break };
        if first == "super" {
            module.pop();
            segments.remove(0);
            continue;
        }
        let child = [module.clone(), vec![first.to_owned()]].concat();
        if modules.contains_key(&child) {
            module = child;
            segments.remove(0);
            continue;
        }
        let Some(current) = modules.get(&module) else { break };
        let named = current.reexports.iter().find(|(name, _)| name == first);
        let Some((_, behind)) = named else { break };
        // One step: the path behind the name, read in the module that makes it its own.
        let target = resolve_one(modules, &module, behind);
        match target {
            Some(target) if target != module => module = target,
            _ => break,
        }
        segments[0] = behind.rsplit("::").next().unwrap_or(first);
    }
    modules.contains_key(&module).then_some(module)
}

/// The module that holds the last name of a path.
fn resolve_one(modules: &BTreeMap<&Module, &Measured>, from: &Module, path: &str) -> Option<Module> {
    let (head, _) = path.rsplit_once("::")?;
    let mut module = Vec::new();
    for (at, segment) in head.split("::").enumerate() {
        match segment {
            "crate" => module.clear(),
            "self" => module.clone_from(from),
            "super" if at == 0 => module = from[..from.len() - 1].to_vec(),
            "super" => drop(module.pop()),
            name if at == 0 => module = [from.clone(), vec![name.to_owned()]].concat(),
            name => module.push(name.to_owned()),
        }
    }
    modules.contains_key(&module).then_some(module)
}

/// The groups of names that are mutually reachable.
fn cycles(edges: &BTreeSet<(String, String)>) -> Vec<BTreeSet<String>> {
    let reach = |start: &str| {
        let mut seen = BTreeSet::new();
        let mut open = vec![start.to_owned()];
        while let Some(name) = open.pop() {
            for (_, to) in edges.iter().filter(|(from, _)| *from == name) {
                if seen.insert(to.clone()) {
                    open.push(to.clone());
                }
            }
        }
        seen
    };
    let names: BTreeSet<&String> = edges.iter().flat_map(|(from, to)| [from, to]).collect();
    let reached: BTreeMap<&String, BTreeSet<String>> = names.iter().map(|name| (*name, reach(name))).collect();
    let group = |name: &String| {
        let mutual = reached[name].iter().filter(|other| reached.get(other).is_some_and(|set| set.contains(name)));
        mutual.cloned().collect::<BTreeSet<_>>()
    };
    let groups: BTreeSet<_> = names.into_iter().map(group).filter(|group| group.len() > 1).collect();
    groups.into_iter().collect()
}

#[test]
fn cycles_are_found() {
    let edges = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e")];
    let edges = edges.map(|(from, to)| (from.to_owned(), to.to_owned())).into();
    assert_eq!(cycles(&edges), [BTreeSet::from(["a", "b", "c"].map(str::to_owned))]);
}

#[test]
fn tuple_parameters_are_counted_and_test_code_is_skipped() {
    let text = "struct A; impl A { fn f(&self, a: u8, (b, c): (u8, &(u8, u8))) {}\n#[cfg(test)] fn g() {}\n}\n\
                #[cfg(test)]\nmod tests { fn h() {} }\nfn i() {}";
    let file = File { name: "src/xml/a.rs".to_owned(), text: text.to_owned(), code: text.to_owned() };
    let (measured, tests) = measure(&file);
    assert_eq!((measured.lines, measured.methods.len()), (3, 1));
    assert_eq!(measured.parameters.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [4, 0]);
    assert_eq!(tests, [["xml", "a", "tests"]]);
}
