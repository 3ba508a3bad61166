// The tokens of Rust by rust-analyzer's parser: reads paths, one a line, and prints a line of JSON for each.
//
// The arguments of std's macros that take expressions are parsed as those of a call. What other macros are given, no
// parser can judge.

use ra_ap_syntax::{ast, AstNode, Edition, NodeOrToken, SourceFile, SyntaxKind, SyntaxNode, SyntaxToken};
use std::io::BufRead;
use SyntaxKind::*;

const MACROS: &str = " assert assert_eq assert_ne dbg debug_assert debug_assert_eq debug_assert_ne eprint eprintln \
    format format_args panic print println todo unimplemented unreachable vec write writeln ";
const HEAD: &str = "fn f(){f(";
// `gen` was a name until 2024.
const EDITION: Edition = Edition::Edition2021;

type Tokens = Vec<(usize, String, &'static str)>;

fn main() {
    for line in std::io::stdin().lock().lines() {
        let path = line.unwrap();
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).replace("\r\n", "\n");
        let parsed = SourceFile::parse(&text, EDITION);
        let answer = match parsed.errors().first() {
            Some(error) => serde_json::json!({"path": path, "error": error.to_string()}),
            None => {
                let mut tokens = Tokens::new();
                read(&parsed.syntax_node(), &|at| Some(at), &mut tokens);
                serde_json::json!({"path": path, "tokens": tokens})
            }
        };
        println!("{answer}");
    }
}

/// Adds the tokens of a tree; `place` makes an offset in its text one in the file, or None.
fn read(root: &SyntaxNode, place: &dyn Fn(usize) -> Option<usize>, tokens: &mut Tokens) {
    for element in root.descendants_with_tokens() {
        match element {
            NodeOrToken::Node(node) if node.kind() == TOKEN_TREE => {
                if node.parent().is_some_and(|parent| parent.kind() != TOKEN_TREE) {
                    read_macro(&node, place, tokens);
                }
            }
            NodeOrToken::Token(token) if !token.parent_ancestors().any(|node| node.kind() == TOKEN_TREE) => {
                if let (Some(kind), Some(at)) = (kind_of(&token), place(token.text_range().start().into())) {
                    tokens.push((at, token.text().to_string(), kind));
                }
            }
            _ => {}
        }
    }
}

fn read_macro(tree: &SyntaxNode, place: &dyn Fn(usize) -> Option<usize>, tokens: &mut Tokens) {
    let parent = tree.parent().unwrap();
    if tree.ancestors().any(|node| [CFG_ATTR_META, UNSAFE_META].contains(&node.kind())) {
        return;
    }
    let name = parent.children().find_map(ast::Path::cast).map(|path| path.syntax().text().to_string());
    let name = name.unwrap_or_default();
    let text = tree.text().to_string();
    if parent.kind() == MACRO_CALL && MACROS.contains(&format!(" {name} ")) && !text.starts_with('{') {
        // `vec![x; n]`
        let separators: Vec<usize> = tree
            .children_with_tokens()
            .filter(|child| child.kind() == SEMICOLON)
            .map(|child| usize::from(child.text_range().start() - tree.text_range().start()))
            .collect();
        let mut bytes = text.clone().into_bytes();
        for at in separators {
            bytes[at] = b',';
        }
        let inner = String::from_utf8(bytes[1..bytes.len() - 1].to_vec()).unwrap();
        let call = SourceFile::parse(&format!("{HEAD}{inner})}}"), EDITION);
        if call.errors().is_empty() {
            let begin = usize::from(tree.text_range().start()) + 1;
            let end = HEAD.len() + inner.len();
            let inside = |at: usize| if at < HEAD.len() || at >= end { None } else { place(at - HEAD.len() + begin) };
            return read(&call.syntax_node(), &inside, tokens);
        }
    }
    for token in tree.descendants_with_tokens().filter_map(|element| element.into_token()) {
        if let Some(at) = place(token.text_range().start().into()) {
            if token.kind() == IDENT || token.kind().is_keyword(EDITION) {
                let kind = if name == "derive" { "TYPE_REFERENCE|VARIABLE" } else { "UNDECIDED" };
                tokens.push((at, token.text().to_string(), kind));
            }
        }
    }
}

fn kind_of(token: &SyntaxToken) -> Option<&'static str> {
    let parent = token.parent()?;
    // What attributes are given has no tokens.
    let holds_others = |node: &SyntaxNode| [CFG_META, CFG_ATTR_META, UNSAFE_META].contains(&node.kind());
    if let Some(attribute) = parent.ancestors().filter(holds_others).last() {
        let kind = if token.kind() == UNSAFE_KW { "KEYWORD" } else { "METHOD_CALL" };
        return (parent == attribute && ["cfg", "cfg_attr", "unsafe"].contains(&token.text())).then_some(kind);
    }
    if token.kind() != IDENT {
        return token.kind().is_keyword(EDITION).then_some("KEYWORD");
    }
    let around = parent.parent()?;
    if parent.kind() == NAME {
        let pattern = ast::IdentPat::cast(around)?;
        let may_refer = pattern.ref_token().is_none() && pattern.mut_token().is_none();
        let is_capital = token.text().starts_with(char::is_uppercase);
        return Some(if may_refer && is_capital { "VARIABLE|TYPE_REFERENCE|DEFINITION" } else { "DEFINITION" });
    }
    if parent.kind() != NAME_REF {
        return Some("UNDECIDED");
    }
    Some(match around.kind() {
        PATH_SEGMENT => return kind_in_path(&around),
        FIELD_EXPR | RECORD_EXPR_FIELD | RECORD_PAT_FIELD => "FIELD",
        METHOD_CALL_EXPR => "METHOD_CALL",
        ASSOC_TYPE_ARG => "TYPE_REFERENCE",
        EXTERN_CRATE => "IMPORT",
        _ => "UNDECIDED",
    })
}

fn kind_in_path(segment: &SyntaxNode) -> Option<&'static str> {
    let own = segment.parent()?;
    let whole = own.ancestors().take_while(|node| node.kind() == PATH).last()?;
    let around = whole.parent()?;
    let is_qualified = whole.children().any(|child| child.kind() == PATH);
    Some(match around.kind() {
        USE_TREE => "IMPORT",
        VISIBILITY_INNER | VISIBILITY => "VARIABLE|FIELD|IMPORT",
        _ if own != whole => "VARIABLE|TYPE_REFERENCE",
        PATH_TYPE | TUPLE_STRUCT_PAT | RECORD_EXPR | RECORD_PAT => "TYPE_REFERENCE",
        MACRO_CALL => "METHOD_CALL",
        kind if ast::Meta::can_cast(kind) => "METHOD_CALL",
        PATH_EXPR => {
            let outer = around.parent()?;
            let is_assigned = ast::BinExpr::cast(outer.clone()).is_some_and(|assignment| {
                assignment.lhs().is_some_and(|left| left.syntax() == &around)
                    && matches!(assignment.op_kind(), Some(ast::BinaryOp::Assignment { op: None }))
            });
            if outer.kind() == CALL_EXPR {
                "METHOD_CALL"
            } else if is_qualified {
                "FIELD"
            } else if is_assigned && outer.parent().is_some_and(|list| list.kind() == ARG_LIST) {
                "ARGUMENT_NAME"
            } else {
                "VARIABLE|TYPE_REFERENCE"
            }
        }
        PATH_PAT => if is_qualified { "FIELD" } else { "VARIABLE|TYPE_REFERENCE" },
        _ => "UNDECIDED",
    })
}
