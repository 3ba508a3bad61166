# path: lib/shop/cart.rb  (what the comments mean: see test_samples.py)
# declares: Shop Item Errors TAX
# declares: Shop::Errors Empty LIMIT
BEGIN { require "set" }
# require METHOD_CALL static Kernel
require_relative "item"
# require_relative METHOD_CALL static Kernel
include Comparable
# include METHOD_CALL | Comparable TYPE_REFERENCE argument static
VERSION = "1"
$debug = ENV["DEBUG"] || VERSION
# ENV VARIABLE static | VERSION VARIABLE static
$debug = $stdout
# $debug VARIABLE static | $stdout VARIABLE static
module Shop
# KEYWORDS: module
  RATES = { low: TAX, "high" => Errors::LIMIT, other: Net::HTTP::VERSION }.freeze
  # TAX VARIABLE static Shop | Errors TYPE_REFERENCE static Shop | LIMIT FIELD static Shop::Errors | Net TYPE_REFERENCE static | HTTP TYPE_REFERENCE static Net | VERSION FIELD static Net::HTTP | freeze METHOD_CALL member Hash
  class Cart < Item
  # Item TYPE_REFERENCE static Shop
    extend Forwardable
    # extend METHOD_CALL | Forwardable TYPE_REFERENCE argument static
    include Errors, Util::Loud
    # include METHOD_CALL member Module | Errors TYPE_REFERENCE argument static Shop | Util TYPE_REFERENCE argument static | Loud TYPE_REFERENCE argument static Util
    attr_accessor :name, :items
    # attr_accessor METHOD_CALL member Module
    def_delegators :@items, :size, :empty?
    # def_delegators METHOD_CALL
    LIMIT = RATES.fetch(:low) + ::VERSION.to_i
    # RATES VARIABLE static Shop | fetch METHOD_CALL | VERSION VARIABLE static | to_i METHOD_CALL
    Line = Struct.new(:item, :count, keyword_init: true) do
    # Struct TYPE_REFERENCE static | new METHOD_CALL static Struct | keyword_init ARGUMENT_NAME argument
      def total = item * count
      # item METHOD_CALL | count METHOD_CALL
    end
    # KEYWORDS: end
    @@made = 0
    @registry = {}
    class << self
    # KEYWORDS: class self
      attr_reader :registry
      # attr_reader METHOD_CALL member Module
      def build(*args, **options, &block)
      # KEYWORDS: def
        @registry[args] = new(*args, **options, &block)
        # @registry FIELD static Shop::Cart | args VARIABLE member | new METHOD_CALL | args VARIABLE argument member | options VARIABLE argument member | block VARIABLE argument member
        registry.size
        # registry METHOD_CALL static Shop::Cart | size METHOD_CALL
      end
      # KEYWORDS: end
      private def secret? = true
      # private METHOD_CALL member Module
    end
    # KEYWORDS: end
    def self.reset!(carts = build)
    # build METHOD_CALL static Shop::Cart
      @@made += 1 unless carts.nil?
      # @@made FIELD static Shop::Cart | carts VARIABLE member | nil? METHOD_CALL
      secret? and Cart.build(carts, name: "x").total
      # secret? METHOD_CALL static Shop::Cart | Cart TYPE_REFERENCE static Shop | build METHOD_CALL static Shop::Cart | carts VARIABLE argument member | name ARGUMENT_NAME argument | total METHOD_CALL
    end
    # KEYWORDS: end
    def initialize(name, items: [], limit: LIMIT)
    # LIMIT VARIABLE static Shop::Cart
      super(name, limit: limit)
      # name VARIABLE argument member | limit ARGUMENT_NAME argument | limit VARIABLE argument member
      @name = name
      # name VARIABLE member
      @items ||= items
      # items VARIABLE member
      @items, @count = @items.dup, 0
      # @items FIELD member Shop::Cart | @items FIELD member Shop::Cart | dup METHOD_CALL
      self.name = name&.strip || self.class.name
      # name METHOD_CALL member Shop::Cart | name VARIABLE member | strip METHOD_CALL | class METHOD_CALL | name METHOD_CALL
      self.items.each { |item| add item }
      # items METHOD_CALL member Shop::Cart | each METHOD_CALL | add METHOD_CALL member Shop::Cart | item VARIABLE argument member
    end
    # KEYWORDS: end
    def add(item, count = 1, *rest, tax: rate, **options)
    # rate METHOD_CALL
      raise Errors::Empty, "no #{item.name} in #{@name}" if item.nil?
      # raise METHOD_CALL static Kernel | Errors TYPE_REFERENCE argument static Shop | Empty TYPE_REFERENCE argument static Shop::Errors | item VARIABLE argument member | name METHOD_CALL argument | @name FIELD argument member Shop::Cart | item VARIABLE member | nil? METHOD_CALL
      line = Line.new(item:, count: count, **options)
      # Line TYPE_REFERENCE static Shop::Cart | new METHOD_CALL static Shop::Cart::Line | item ARGUMENT_NAME argument | count ARGUMENT_NAME argument | count VARIABLE argument member | options VARIABLE argument member
      line = line
      # line VARIABLE member | line VARIABLE member
      total = lines.map(&:count).sum { |each; total| each + total.to_i }
      # lines METHOD_CALL | map METHOD_CALL | sum METHOD_CALL | each VARIABLE member | total VARIABLE member | to_i METHOD_CALL
      rest.each_with_index do |(first, *others), index|
      # rest VARIABLE member | each_with_index METHOD_CALL
        puts format("%s", first), others, index, rest: other, kept: [key: first]
        # puts METHOD_CALL static Kernel | format METHOD_CALL argument static Kernel | first VARIABLE argument member | others VARIABLE argument member | index VARIABLE argument member | rest ARGUMENT_NAME argument | other METHOD_CALL argument | kept ARGUMENT_NAME argument | first VARIABLE argument member
        total += index
        # total VARIABLE member | index VARIABLE member
        inner = first
        # first VARIABLE member
      end
      # KEYWORDS: end
      inner.call(total)
      # inner METHOD_CALL | call METHOD_CALL | total VARIABLE argument member
      yield line, count: 1 if block_given?
      # line VARIABLE argument member | count ARGUMENT_NAME argument | block_given? METHOD_CALL static Kernel
      { line:, total: total, unknown:, :sym => count }
      # line VARIABLE member | total VARIABLE member | unknown METHOD_CALL | count VARIABLE member
    rescue ArgumentError, Errors::Empty => error
    # ArgumentError TYPE_REFERENCE static | Errors TYPE_REFERENCE static Shop | Empty TYPE_REFERENCE static Shop::Errors
      warn error.message
      # warn METHOD_CALL static Kernel | error VARIABLE argument member | message METHOD_CALL argument
      retry
      # KEYWORDS: retry
    else
    # KEYWORDS: else
      nil
      # KEYWORDS: nil
    ensure
    # KEYWORDS: ensure
      @lines&.clear
      # @lines FIELD member | clear METHOD_CALL
    end
    # KEYWORDS: end
    def name=(value); @name = value; end
    # @name FIELD member Shop::Cart | value VARIABLE member
    def [](index) = @items[index]
    # @items FIELD member Shop::Cart | index VARIABLE member
    def <=>(other) = total <=> other.total
    # total METHOD_CALL member Shop::Cart | other VARIABLE member | total METHOD_CALL
    def total
    # KEYWORDS: def
      @total ||= begin
      # KEYWORDS: begin
        items.sum(&method(:price)) * (1 + Cart::LIMIT)
        # items METHOD_CALL member Shop::Cart | sum METHOD_CALL | method METHOD_CALL argument | Cart TYPE_REFERENCE static Shop | LIMIT FIELD static Shop::Cart
      end
      # KEYWORDS: end
    end
    # KEYWORDS: end
    alias sum total
    # total FIELD member Shop::Cart
    alias_method :cost, :total
    # alias_method METHOD_CALL member Module
    undef price
    # price FIELD member Shop::Cart
    protected
    # protected METHOD_CALL member Module
    def price((item, count), scale: ->(x, y = count) { x * y })
    # count VARIABLE member | x VARIABLE member | y VARIABLE member
      case item
      # item VARIABLE member
      in { name: String => name, lines: [Line[item: first], *rest], count: } if count > LIMIT
      # String TYPE_REFERENCE static | Line TYPE_REFERENCE static Shop::Cart | count VARIABLE member | count VARIABLE member | LIMIT VARIABLE static Shop::Cart
        [name, first, rest]
        # name VARIABLE member | first VARIABLE member | rest VARIABLE member
      in Item(size:) | ^count | nil
      # Item TYPE_REFERENCE static Shop | count VARIABLE member
        scale.(size, Integer("3"))
        # scale VARIABLE member | size VARIABLE argument member | Integer METHOD_CALL argument static Kernel
      in Errors::LIMIT then lookup
      # Errors TYPE_REFERENCE static Shop | LIMIT FIELD static Shop::Errors | lookup METHOD_CALL
      end
      # KEYWORDS: end
      item => { tax: }
      # item VARIABLE member
      tax in Float
      # tax VARIABLE member | Float TYPE_REFERENCE static
      case count when 0, LIMIT then item else yield end
      # count VARIABLE member | LIMIT VARIABLE static Shop::Cart | item VARIABLE member
    end
    # KEYWORDS: end
  end
  # KEYWORDS: end
  module_function
  # module_function METHOD_CALL member Module
  def helper(list)
  # KEYWORDS: def
    for a, (b, c) in list do list << a + b + c end
    # list VARIABLE member | list VARIABLE member | a VARIABLE member | b VARIABLE member | c VARIABLE member
    while (line = list.shift) && line
    # list VARIABLE member | shift METHOD_CALL | line VARIABLE member
      next if line =~ /x#{line}/
      # line VARIABLE member | line VARIABLE member
      break unless line
      # line VARIABLE member
    end
    # KEYWORDS: end
    if /(?<year>\d+)-(?<mon>\d+)/ =~ line then year + mon end
    # line VARIABLE member | year VARIABLE member | mon VARIABLE member
    until list.empty? do list.pop end
    # list VARIABLE member | empty? METHOD_CALL | list VARIABLE member | pop METHOD_CALL
    one, (two, *three), list[0], list.first = 1, [2, 3], *list
    # list VARIABLE member | list VARIABLE member | first METHOD_CALL | list VARIABLE member
    one.two(three) rescue two
    # one VARIABLE member | two METHOD_CALL | three VARIABLE argument member | two VARIABLE member
    defined?(one) ? not(one) : __FILE__
    # one VARIABLE member | one VARIABLE member
    Cart.new(one).add(<<~TEXT, two).total
    # Cart TYPE_REFERENCE static Shop | new METHOD_CALL static Shop::Cart | one VARIABLE argument member | add METHOD_CALL member Shop::Cart | two VARIABLE argument member | total METHOD_CALL
      text #{one} and one
      # one VARIABLE member
    TEXT
    %w[one two].each(&:upcase)
    # each METHOD_CALL member Array
    "one".upcase + :one.to_s + `ls #{one}` + "#{"#{two}"}"
    # upcase METHOD_CALL member String | to_s METHOD_CALL member Symbol | one VARIABLE member | two VARIABLE member
    OpenSSL::Digest::SHA256.hexdigest Zip::CRC.sum(one)
    # OpenSSL TYPE_REFERENCE static | Digest TYPE_REFERENCE static OpenSSL | SHA256 TYPE_REFERENCE static OpenSSL::Digest | hexdigest METHOD_CALL static OpenSSL::Digest::SHA256 | Zip TYPE_REFERENCE argument static | CRC FIELD argument static Zip | sum METHOD_CALL argument | one VARIABLE argument member
    JSON.parse(one, symbolize_names: true) { |it| it }
    # JSON TYPE_REFERENCE static | parse METHOD_CALL static JSON | one VARIABLE argument member | symbolize_names ARGUMENT_NAME argument | it VARIABLE member
    RATES.each_pair.map { helper _1 }.then { Shop.helper(_1) }
    # RATES VARIABLE static Shop | each_pair METHOD_CALL | map METHOD_CALL | helper METHOD_CALL member Shop | _1 VARIABLE argument member | then METHOD_CALL | Shop TYPE_REFERENCE static | helper METHOD_CALL static Shop | _1 VARIABLE argument member
    Shop::helper(Shop::Cart)
    # Shop TYPE_REFERENCE static | helper METHOD_CALL static Shop | Shop TYPE_REFERENCE argument static | Cart TYPE_REFERENCE argument static Shop
    lambda do |item, *|
    # lambda METHOD_CALL static Kernel
      item.freeze
      # item VARIABLE member | freeze METHOD_CALL
    end
    # KEYWORDS: end
  end
  # KEYWORDS: end
end
# KEYWORDS: end
def top(&block)
# KEYWORDS: def
  block.call(top { }, helper)
  # block VARIABLE member | call METHOD_CALL | top METHOD_CALL argument static | helper METHOD_CALL argument
  loop { redo unless block and not nil or true }
  # loop METHOD_CALL static Kernel | block VARIABLE member
end
# KEYWORDS: end
class Shop::Cart
# Shop TYPE_REFERENCE static
  def more = @name + total + LIMIT.to_s + TAX
  # @name FIELD member Shop::Cart | total METHOD_CALL member Shop::Cart | LIMIT VARIABLE static Shop::Cart | to_s METHOD_CALL | TAX VARIABLE static
end
# KEYWORDS: end
__END__
top helper
