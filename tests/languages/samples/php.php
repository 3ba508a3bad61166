<?php
// path: src/Mail/Sender.php  (what the comments mean: see test_samples.py)
// declares: Shop\Util helper VERSION Text
declare(strict_types=1);
// KEYWORDS: declare strict_types
namespace Shop\Mail;
// KEYWORDS: namespace
use Shop\Util\Text;
// Shop IMPORT static Shop | Util IMPORT static Shop | Text IMPORT static Shop\Util
use Psr\Log\{LoggerInterface as Log, Sub\Level, function trace, const MASK};
// Psr IMPORT static Psr | Log IMPORT static Psr | LoggerInterface IMPORT static Psr\Log | Sub IMPORT static Psr\Log | Level IMPORT static Psr\Log\Sub | trace IMPORT static Psr\Log | MASK IMPORT static Psr\Log
use function Shop\Util\helper, Shop\Util\other as another;
// Shop IMPORT static Shop | Util IMPORT static Shop | helper IMPORT static Shop\Util | Shop IMPORT static Shop | Util IMPORT static Shop | other IMPORT static Shop\Util
use const Shop\Util\VERSION;
// Shop IMPORT static Shop | Util IMPORT static Shop | VERSION IMPORT static Shop\Util
use ArrayObject, Psr\Clock as Clocks;
// ArrayObject IMPORT static | Psr IMPORT static Psr | Clock IMPORT static Psr
use function strlen;
// strlen IMPORT static
const RETRIES = 3;
// KEYWORDS: const
const DOUBLE = RETRIES * 2 + MASK;
// RETRIES VARIABLE static Shop\Mail | MASK VARIABLE static Psr\Log
#[Route('/send', name: 'send'), Log\Audited]
// Route TYPE_REFERENCE static Shop\Mail | name ARGUMENT_NAME argument | Log TYPE_REFERENCE static Psr\Log | Audited TYPE_REFERENCE static Psr\Log\LoggerInterface
abstract class Sender extends Base implements \Countable, Clocks\Aware
// Base TYPE_REFERENCE static Shop\Mail | Countable TYPE_REFERENCE static | Clocks TYPE_REFERENCE static Psr | Aware TYPE_REFERENCE static Psr\Clock
{
    use Loud, Text { Loud::say insteadof Text; Text::say as protected whisper; }
    // Loud TYPE_REFERENCE static Shop\Mail | Text TYPE_REFERENCE static Shop\Util | Loud TYPE_REFERENCE static Shop\Mail | say FIELD Shop\Mail | Text TYPE_REFERENCE static Shop\Util | Text TYPE_REFERENCE static Shop\Util | say FIELD Shop\Util
    public const LIMIT = self::BASE . 'x', BASE = Text::DEFAULT;
    // BASE FIELD static Shop\Mail | Text TYPE_REFERENCE static Shop\Util | DEFAULT FIELD static Shop\Util
    private ?Text $text = null;
    // Text TYPE_REFERENCE static Shop\Util
    public static array|Log $all = [Level::class, 'b' => RETRIES];
    // Log TYPE_REFERENCE static Psr\Log | Level TYPE_REFERENCE static Psr\Log\Sub | RETRIES VARIABLE static Shop\Mail
    protected readonly int $size;
    // KEYWORDS: protected readonly int
    public function __construct(private Log $log, protected int $left = self::LIMIT, string ...$rest)
    // Log TYPE_REFERENCE static Psr\Log | LIMIT FIELD static Shop\Mail
    {
        parent::__construct($log, left: $left, other: [...$rest]);
        // __construct METHOD_CALL | log VARIABLE argument member | left ARGUMENT_NAME argument | left VARIABLE argument member | other ARGUMENT_NAME argument | rest VARIABLE argument member
        $this->text = $this->left > 0 ? new Text($left) : null;
        // text FIELD member Shop\Mail | left FIELD member Shop\Mail | Text TYPE_REFERENCE static Shop\Util | left VARIABLE argument member
        static::$all[] = $this->size = count($rest);
        // all FIELD static Shop\Mail | size FIELD member Shop\Mail | count METHOD_CALL static | rest VARIABLE argument member
        self::create($made)->made($made)->log->warn("left $left {$this->text->size} ${rest} $rest[key] {$rest['x']}");
        // create METHOD_CALL static Shop\Mail | made METHOD_CALL | made VARIABLE argument member | log FIELD member | warn METHOD_CALL | left VARIABLE argument member | text FIELD argument member Shop\Mail | size FIELD argument member | rest VARIABLE argument member | rest VARIABLE argument member | rest VARIABLE argument member
        $this->log()?->level()::High->name = Sender::LIMIT;
        // log METHOD_CALL member Shop\Mail | level METHOD_CALL | High FIELD static | name FIELD member | Sender TYPE_REFERENCE static Shop\Mail | LIMIT FIELD static Shop\Mail
        $this->$left->{'a' . $left}[RETRIES]->sum();
        // left VARIABLE member | left VARIABLE member | RETRIES VARIABLE static Shop\Mail | sum METHOD_CALL
    }
    abstract protected function log(?Log &$log, self|Text $or = null): static;
    // Log TYPE_REFERENCE static Psr\Log | Text TYPE_REFERENCE static Shop\Util
    public static function create(&$made): static
    // KEYWORDS: public static function static
    {
        $made = new static(log: $made);
        // made VARIABLE member | log ARGUMENT_NAME argument | made VARIABLE argument member
        $made .= $made;
        // made VARIABLE member | made VARIABLE member
        return $made instanceof Sender ? $made : (clone $made)->log($made);
        // made VARIABLE member | Sender TYPE_REFERENCE static Shop\Mail | made VARIABLE member | made VARIABLE member | log METHOD_CALL | made VARIABLE argument member
    }
    public function count(): int { return strlen($this->text) + helper(VERSION) + namespace\local() + \intdiv(1, PHP_INT_MAX); }
    // strlen METHOD_CALL static | text FIELD argument member Shop\Mail | helper METHOD_CALL static Shop\Util | VERSION VARIABLE argument static Shop\Util | local METHOD_CALL static Shop\Mail | intdiv METHOD_CALL static | PHP_INT_MAX VARIABLE argument static
}
function local(array $items, callable $call): iterable
// KEYWORDS: function array callable iterable
{
    global $config;
    // config VARIABLE static
    static $calls = 0;
    // KEYWORDS: static
    $calls++;
    // calls VARIABLE member
    $total = fn(int $by): int => $by * $calls;
    // by VARIABLE member | calls VARIABLE member
    $sum = static function (Text $text) use ($items, &$found): ?Text { return $text->find($items, $found); };
    // Text TYPE_REFERENCE static Shop\Util | items VARIABLE member | found VARIABLE member | Text TYPE_REFERENCE static Shop\Util | text VARIABLE member | find METHOD_CALL | items VARIABLE argument member | found VARIABLE argument member
    usort($items, function ($a, $b) use ($sum) { return $sum($a) <=> $b; });
    // usort METHOD_CALL static | items VARIABLE argument member | sum VARIABLE argument member | sum METHOD_CALL member | a VARIABLE argument member | b VARIABLE member
    [$one, 'k' => $two, [$three]] = $items; list(, $one) = $two;
    // items VARIABLE member | one VARIABLE member | two VARIABLE member
    foreach ($items as $key => [$x, $y]) { yield $key => $x; }
    // items VARIABLE member | key VARIABLE member | x VARIABLE member
    foreach ($items as $item): yield from $item; endforeach;
    // items VARIABLE member | item VARIABLE member
    for ($i = 0; $i < $three; $i++) { continue; }
    // i VARIABLE member | three VARIABLE member | i VARIABLE member
    try {
    // KEYWORDS: try
        if (preg_match('/x/', $y, $matches) and !isset($matches[1], $config)) { throw new \LogicException(__METHOD__); }
        // preg_match METHOD_CALL static | y VARIABLE argument member | matches VARIABLE member | config VARIABLE static | LogicException TYPE_REFERENCE static
    } catch (Level\Failed | \TypeError $error) {
    // Level TYPE_REFERENCE static Psr\Log\Sub | Failed TYPE_REFERENCE static Psr\Log\Sub\Level | TypeError TYPE_REFERENCE static
        $error->getPrevious()?->getLine(...);
        // error VARIABLE member | getPrevious METHOD_CALL | getLine METHOD_CALL
    } finally { unset($error, $items[0]); }
    // error VARIABLE member | items VARIABLE member
    $made = new class($one) extends Sender { private $inner; function get() { return $this->inner ?? $this->text; } };
    // one VARIABLE argument member | Sender TYPE_REFERENCE static Shop\Mail | inner FIELD member Shop\Mail | text FIELD member
    return match (true) { $one > 1, $made => $call($key), Sender::create(...) => Sender::$all, default => die(1) };
    // one VARIABLE member | made VARIABLE member | call METHOD_CALL member | key VARIABLE argument member | Sender TYPE_REFERENCE static Shop\Mail | create METHOD_CALL static Shop\Mail | Sender TYPE_REFERENCE static Shop\Mail | all FIELD static Shop\Mail
}
enum Suit: string implements HasLabel
// HasLabel TYPE_REFERENCE static Shop\Mail
{
    case Hearts = 'H';
    // KEYWORDS: case
    case Spades = 'S';
    // KEYWORDS: case
    public function label(): string { return strtolower(self::from($this->value)->name) . self::Hearts::Wild; }
    // strtolower METHOD_CALL static | from METHOD_CALL argument static | value FIELD argument member | name FIELD argument member | Hearts FIELD static Shop\Mail | Wild FIELD static
}
interface Talks extends Loud { public function say(): void; }
// Loud TYPE_REFERENCE static Shop\Mail
trait Loud { abstract function say(bool $loud); }
// KEYWORDS: trait abstract function bool
if (!function_exists('x') || another($text) instanceof Log xor $_SERVER['a']) { goto end; }
// function_exists METHOD_CALL static | another METHOD_CALL static Shop\Util | text VARIABLE argument | Log TYPE_REFERENCE static Psr\Log | _SERVER VARIABLE static
$text = <<<END
    $text {$text->size()} $text->size
    // text VARIABLE | text VARIABLE | size METHOD_CALL | text VARIABLE | size FIELD member
END;
end:
$text ??= include __DIR__ . '/x.php';
// text VARIABLE
switch ($text) { case RETRIES: break; case Text::EMPTY: echo (int) $text; default: print `ls $text`; }
// text VARIABLE | RETRIES VARIABLE static Shop\Mail | Text TYPE_REFERENCE static Shop\Util | EMPTY FIELD static Shop\Util | text VARIABLE | text VARIABLE
do { $$text = $text['k'] ?: 'Text'::make(); } while (FALSE);
// text VARIABLE | text VARIABLE | make METHOD_CALL static
$text->class = Text::{$text}(...$text); ($text)(1); $text::make()::$all;
// text VARIABLE | class FIELD member | Text TYPE_REFERENCE static Shop\Util | text VARIABLE | text VARIABLE argument | text VARIABLE | text VARIABLE | make METHOD_CALL static | all FIELD static
// local(); "helper" in a comment
exit;
// KEYWORDS: exit
?>
<p>text <?= $text ?> and $text</p>
// text VARIABLE
<?php if ($text): ?> helper() <?php elseif (local(...)): endif; ?>
// text VARIABLE | local METHOD_CALL static Shop\Mail
