<?php

/**
 * An oracle of PHP: the names and keywords of files, by nikic/php-parser and PHP's own tokens.
 *
 *     php php.php AUTOLOAD < PATHS        the file autoload.php of the library, and paths, one a line
 *
 * Writes a line of JSON for each file: path, and tokens (offset in bytes, text, kind) or error. DEFINITION is the kind of
 * names that refer to nothing; of several kinds between "|", any is right.
 */

require $argv[1];

use PhpParser\Node;
use PhpParser\Node\Expr;
use PhpParser\Node\Stmt;

final class Kinds extends PhpParser\NodeVisitorAbstract
{
    /** @var array<int, array{string, string}> offset → text and kind */
    public array $names = [];
    private const FIRST_ASSIGNMENT = 'VARIABLE|DEFINITION';

    public function __construct(private string $code)
    {
    }

    private function put(?Node $node, string $name, string $kind): void
    {
        $begin = $node === null ? false : strpos($this->code, $name, $node->getStartFilePos());
        if ($begin !== false && $begin <= $node->getEndFilePos()) {
            $this->names[$begin] ??= [$name, $kind];
        }
    }

    private function identifier(mixed $node, string $kind): void
    {
        if ($node instanceof Node\Identifier) {
            $this->put($node, $node->name, $kind);
        }
    }

    /** Puts the parts of a qualified name, of which the last has a kind of its own. */
    private function name(mixed $node, string $last, string $others = 'TYPE_REFERENCE'): void
    {
        if (!$node instanceof Node\Name) {
            return;
        }
        $text = substr($this->code, $node->getStartFilePos(), $node->getEndFilePos() - $node->getStartFilePos() + 1);
        preg_match_all('/[^\\\\\s]+/', $text, $parts, PREG_OFFSET_CAPTURE);
        $end = count($parts[0]) - 1;
        foreach ($parts[0] as $index => [$part, $offset]) {
            $isWord = $index === 0 && ($part === 'namespace' || ($end === 0 && in_array(strtolower($part), ['self', 'static', 'parent'], true)));
            $this->names[$node->getStartFilePos() + $offset] ??= [$part, $isWord ? 'KEYWORD' : ($index === $end ? $last : $others)];
        }
    }

    private function type(mixed $node): void
    {
        if ($node instanceof Node\Identifier) {
            // The library writes it in small letters.
            $begin = $node->getStartFilePos();
            $this->names[$begin] ??= [substr($this->code, $begin, $node->getEndFilePos() - $begin + 1), 'KEYWORD'];
        } elseif ($node instanceof Node\NullableType) {
            $this->type($node->type);
        } elseif ($node instanceof Node\UnionType || $node instanceof Node\IntersectionType) {
            array_map($this->type(...), $node->types);
        } else {
            $this->name($node, 'TYPE_REFERENCE');
        }
    }

    /** Puts the variables that an assignment to an expression may define. */
    private function target(?Node $node): void
    {
        if ($node instanceof Expr\Variable && is_string($node->name)) {
            $this->put($node, $node->name, $node->name === 'this' ? 'KEYWORD' : self::FIRST_ASSIGNMENT);
        } elseif ($node instanceof Expr\List_ || $node instanceof Expr\Array_) {
            foreach ($node->items as $item) {
                $this->target($item?->value);
            }
        } elseif ($node instanceof Expr\ArrayDimFetch) {
            $this->target($node->var);
        }
    }

    public function enterNode(Node $node)
    {
        $this->declaration($node);
        $this->reference($node);
        foreach (['type', 'returnType', 'scalarType'] as $part) {
            if (in_array($part, $node->getSubNodeNames(), true)) {
                $this->type($node->$part);
            }
        }
        return null;
    }

    private function declaration(Node $node): void
    {
        if ($node instanceof Stmt\ClassLike || $node instanceof Stmt\Function_ || $node instanceof Stmt\ClassMethod
            || $node instanceof Node\Const_ || $node instanceof Stmt\EnumCase || $node instanceof Stmt\Label) {
            $this->identifier($node->name, 'DEFINITION');
        } elseif ($node instanceof Stmt\PropertyProperty) {
            $this->put($node->name, $node->name->name, 'DEFINITION');
        } elseif ($node instanceof Node\Param && $node->var instanceof Expr\Variable) {
            $this->put($node->var, $node->var->name, 'DEFINITION');
        } elseif ($node instanceof Stmt\Namespace_) {
            $this->name($node->name, 'DEFINITION', 'DEFINITION');
        } elseif ($node instanceof Stmt\UseUse) {
            $this->name($node->name, 'IMPORT', 'IMPORT');
            $this->identifier($node->alias, 'DEFINITION');
        } elseif ($node instanceof Stmt\GroupUse) {
            $this->name($node->prefix, 'IMPORT', 'IMPORT');
        } elseif ($node instanceof Stmt\DeclareDeclare) {
            $this->identifier($node->key, 'KEYWORD');
        }
        foreach (['extends', 'implements', 'types', 'traits', 'insteadof'] as $part) {
            if (in_array($part, $node->getSubNodeNames(), true)) {
                foreach (is_array($node->$part) ? $node->$part : [$node->$part] as $name) {
                    $this->name($name, 'TYPE_REFERENCE');
                }
            }
        }
    }

    private function reference(Node $node): void
    {
        if ($node instanceof Expr\Assign || $node instanceof Expr\AssignRef || $node instanceof Expr\AssignOp) {
            $this->target($node->var);
        } elseif ($node instanceof Stmt\Foreach_) {
            $this->target($node->keyVar);
            $this->target($node->valueVar);
        } elseif ($node instanceof Stmt\Catch_ || $node instanceof Stmt\StaticVar) {
            $this->target($node->var);
        } elseif ($node instanceof Expr\ClosureUse && $node->byRef) {
            $this->target($node->var);
        } elseif ($node instanceof Node\Arg) {
            $this->identifier($node->name, 'ARGUMENT_NAME');
            // A function may take it by reference.
            $this->target($node->value);
        } elseif ($node instanceof Node\Attribute) {
            $this->name($node->name, 'TYPE_REFERENCE');
        } elseif ($node instanceof Stmt\TraitUseAdaptation) {
            $this->name($node->trait, 'TYPE_REFERENCE');
            $this->identifier($node->method, 'FIELD');
            $this->identifier($node->newName ?? null, 'DEFINITION');
        } elseif ($node instanceof Stmt\Goto_) {
            $this->identifier($node->name, 'DEFINITION');
        } elseif ($node instanceof Expr) {
            $this->expression($node);
        }
    }

    private function expression(Expr $node): void
    {
        if (isset($node->class)) {
            $this->name($node->class, 'TYPE_REFERENCE');
        }
        if ($node instanceof Expr\FuncCall) {
            $this->name($node->name, 'METHOD_CALL');
            if ($node->name instanceof Expr\Variable && is_string($node->name->name)) {
                $this->put($node->name, $node->name->name, 'METHOD_CALL');
            } elseif ($node->name instanceof Expr\PropertyFetch) {
                $this->identifier($node->name->name, 'METHOD_CALL');
            }
        } elseif ($node instanceof Expr\MethodCall || $node instanceof Expr\NullsafeMethodCall || $node instanceof Expr\StaticCall) {
            $this->identifier($node->name, 'METHOD_CALL');
        } elseif ($node instanceof Expr\PropertyFetch || $node instanceof Expr\NullsafePropertyFetch) {
            $this->identifier($node->name, 'FIELD');
        } elseif ($node instanceof Expr\StaticPropertyFetch && $node->name instanceof Node\VarLikeIdentifier) {
            $this->put($node->name, $node->name->name, 'FIELD');
        } elseif ($node instanceof Expr\ClassConstFetch) {
            $this->identifier($node->name, strtolower($node->name->name ?? '') === 'class' ? 'KEYWORD' : 'FIELD');
        } elseif ($node instanceof Expr\ConstFetch) {
            $isWord = in_array(strtolower($node->name->toString()), ['true', 'false', 'null'], true);
            $this->name($node->name, $isWord ? 'KEYWORD' : 'VARIABLE');
        } elseif ($node instanceof Expr\Variable && is_string($node->name)) {
            $this->put($node, $node->name, $node->name === 'this' ? 'KEYWORD' : 'VARIABLE');
        }
    }
}

/** @return list<array{int, string, string}> */
function tokens(string $code): array
{
    $lexer = new PhpParser\Lexer\Emulative(['usedAttributes' => ['startFilePos', 'endFilePos']]);
    $tree = (new PhpParser\ParserFactory())->create(PhpParser\ParserFactory::ONLY_PHP7, $lexer)->parse($code);
    $kinds = new Kinds($code);
    $traverser = new PhpParser\NodeTraverser();
    $traverser->addVisitor($kinds);
    $traverser->traverse($tree);
    $names = $kinds->names;
    $text = [T_STRING, T_INLINE_HTML, T_ENCAPSED_AND_WHITESPACE, T_STRING_VARNAME, T_START_HEREDOC, T_END_HEREDOC];
    foreach (PhpToken::tokenize($code) as $token) {
        // `(int)` and `yield from` are one token.
        $isWords = preg_match('/^[a-z_]+$/i', $token->text) || preg_match('/_CAST$|^T_YIELD_FROM$/', $token->getTokenName() ?? '');
        if ($isWords && !in_array($token->id, $text, true)) {
            preg_match_all('/[a-z_]+/i', $token->text, $words, PREG_OFFSET_CAPTURE);
            foreach ($words[0] as [$word, $offset]) {
                $names[$token->pos + $offset] ??= [$word, 'KEYWORD'];
            }
        }
    }
    ksort($names);
    return array_map(fn (int $offset): array => [$offset, ...$names[$offset]], array_keys($names));
}

foreach (explode("\n", trim(stream_get_contents(STDIN))) as $path) {
    try {
        $answer = ['path' => $path, 'tokens' => tokens(file_get_contents($path))];
    } catch (PhpParser\Error $error) {
        $answer = ['path' => $path, 'error' => $error->getMessage()];
    }
    echo json_encode($answer, JSON_THROW_ON_ERROR), "\n";
}
