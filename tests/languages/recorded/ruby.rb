require "json"

module Shop
  RATE = 0.19

  Item = Struct.new(:name, :price)

  class Cart
    include Enumerable
    attr_reader :owner

    def initialize(owner)
      @owner = owner
      @items = []
    end

    def add(name, price: 1.0)
      @items << Item.new(name, price)
      self
    end

    def each(&block)
      @items.each(&block)
    end

    def total
      sum = 0
      each { |item| sum += item.price * (1 + RATE) }
      [sum, 0].max
    end
  end

  def self.load(path)
    data = JSON.parse(File.read(path))
    cart = Cart.new(data["owner"])
    data.fetch("items").each do |name, price|
      cart.add(name, price: price) unless price.nil?
    end
    cart
  rescue Errno::ENOENT => e
    puts "not read: #{e.message}"
  end
end
