// path: src/shop/cart.cpp  (what the comments mean: see test_samples.py)
// declares: shop Order total helper Priced
// declares: shop::io Reader open
#include "shop/cart.h"
#include <vector>

#define LIMIT 10
#define SQUARE(x) ((x) * (x))
#ifdef LIMIT
// LIMIT VARIABLE static
#endif

using std::vector;
// std IMPORT static std | vector IMPORT static std
namespace chrono = std::chrono;
// std VARIABLE static std | chrono VARIABLE static std

int counter = LIMIT;
// LIMIT VARIABLE static

namespace shop {

using namespace std::literals;
// std IMPORT static std | literals IMPORT static std
using Names = std::map<std::string, vector<Order>>;
// std VARIABLE static std | map TYPE_REFERENCE static std | std VARIABLE static std | string TYPE_REFERENCE static std | vector TYPE_REFERENCE static std | Order TYPE_REFERENCE static shop

namespace detail {
class Forward;
template <typename T, int N = 3, class... Rest> struct Box { T items[N]; };
// T TYPE_REFERENCE member | N VARIABLE member
}

enum Color { Red, Green = Red + 1 };
// Red FIELD static shop
enum class Size : unsigned char { Small, Large };
// KEYWORDS: enum class unsigned char

template <typename T>
class Cart : public Base<T>, private detail::Box<T, 2> {
  // Base TYPE_REFERENCE | T TYPE_REFERENCE member | detail VARIABLE static shop::detail | Box TYPE_REFERENCE static shop::detail | T TYPE_REFERENCE member
 public:
  explicit Cart(const T& first, int size = LIMIT) : Base<T>(first), size_(size), names_{} {}
  // T TYPE_REFERENCE member | LIMIT VARIABLE static | Base TYPE_REFERENCE | T TYPE_REFERENCE member | first VARIABLE argument member | size_ FIELD member shop | size VARIABLE argument member | names_ FIELD member shop
  virtual ~Cart() = default;
  // KEYWORDS: virtual default
  Cart& operator=(const Cart& other) = delete;
  // Cart TYPE_REFERENCE static shop | Cart TYPE_REFERENCE static shop

  int price(Size size) const override {
    // Size TYPE_REFERENCE static shop
    if (size == Size::Large && this->size_ > count) return names_.size() + later();
    // size VARIABLE member | Size TYPE_REFERENCE static shop | Large FIELD static shop | size_ FIELD member shop | count FIELD static shop | names_ FIELD member shop | size METHOD_CALL | later METHOD_CALL member shop
    int size_ = 1;
    return size_ + make(Green)->count + Cart::count;
    // size_ VARIABLE member | make METHOD_CALL static shop | Green FIELD argument static shop | count FIELD | Cart TYPE_REFERENCE static shop | count FIELD static shop
  }
  template <class V> V as() const { return static_cast<V>(size_); }
  // V TYPE_REFERENCE member | V TYPE_REFERENCE member | size_ FIELD argument member shop
  static Cart* make(Color color);
  // Cart TYPE_REFERENCE static shop | Color TYPE_REFERENCE static shop
  friend class Visitor;
  // Visitor TYPE_REFERENCE
  operator bool() const;
  // KEYWORDS: operator bool const

 private:
  struct Entry { Color color; T value; };
  // Color TYPE_REFERENCE static shop | T TYPE_REFERENCE member
  int later() noexcept;
  int size_ = 0, *next_;
  static const int count = 1;
  Names names_;
  // Names TYPE_REFERENCE static shop
  void (*callback_)(int code);
  typedef std::size_t index;
  // std VARIABLE static std | size_t TYPE_REFERENCE static std
};

template <typename T>
int Cart<T>::later() noexcept {
  // Cart TYPE_REFERENCE static shop | T TYPE_REFERENCE member
  *next_ = SQUARE(size_);
  // next_ FIELD member shop | SQUARE METHOD_CALL static | size_ FIELD argument member shop
  return total(counter, io::open("// no comment"), detail::unknown);
  // total METHOD_CALL static shop | counter VARIABLE argument static | io VARIABLE argument static shop::io | open METHOD_CALL argument static shop::io | detail VARIABLE argument static shop::detail | unknown VARIABLE argument static shop::detail
}

void Order::add(std::ostream& out, Entry entry) const {
  // Order TYPE_REFERENCE static shop | std VARIABLE static std | ostream TYPE_REFERENCE static std | Entry TYPE_REFERENCE
  auto sum = [&, entry, twice = entry.price * 2](int by, auto rest) mutable -> long { return twice * by + sum_; };
  // entry VARIABLE member | entry VARIABLE member | price FIELD | twice VARIABLE member | by VARIABLE member | sum_ VARIABLE
  out << sum(std::max<int>(1, entry.at(0)), "text") << std::endl;
  // out VARIABLE member | sum METHOD_CALL member | std VARIABLE argument static std | max METHOD_CALL argument static std | entry VARIABLE argument member | at METHOD_CALL argument | std VARIABLE static std | endl VARIABLE static std
  for (const auto& [key, value] : entry.pairs) { ::log(key, value->first.second()); }
  // entry VARIABLE member | pairs FIELD | log METHOD_CALL static | key VARIABLE argument member | value VARIABLE argument member | first FIELD argument | second METHOD_CALL argument
  for (int i = 0; i < LIMIT; ++i) out << i;
  // i VARIABLE member | LIMIT VARIABLE static | i VARIABLE member | out VARIABLE member | i VARIABLE member
  Point point = {.x = 1, .y = counter};
  // Point TYPE_REFERENCE | x FIELD | y FIELD | counter VARIABLE static
  detail::Box<Point, 4>* box = new detail::Box<Point, 4>(point);
  // detail VARIABLE static shop::detail | Box TYPE_REFERENCE static shop::detail | Point TYPE_REFERENCE | detail VARIABLE static shop::detail | Box TYPE_REFERENCE static shop::detail | Point TYPE_REFERENCE | point VARIABLE argument member
  if (auto found = helper(box); found != nullptr) goto done;
  // helper METHOD_CALL static shop | box VARIABLE argument member | found VARIABLE member
  try {
    std::string name{point.name}, copy(name, 3);
    // std VARIABLE static std | string TYPE_REFERENCE static std | point VARIABLE member | name FIELD | name VARIABLE argument member
    throw std::runtime_error(name + (std::string)copy);
    // std VARIABLE static std | runtime_error METHOD_CALL static std | name VARIABLE argument member | std VARIABLE argument static std | string TYPE_REFERENCE argument static std | copy VARIABLE argument member
  } catch (const std::exception& error) {
    // std VARIABLE static std | exception TYPE_REFERENCE static std
    [[maybe_unused]] chrono::seconds wait(error.code());
    // chrono VARIABLE static std::chrono | seconds TYPE_REFERENCE static std::chrono | error VARIABLE argument member | code METHOD_CALL argument
  } catch (...) {
    throw;
    // KEYWORDS: throw
  }
  switch (counter) {
    // counter VARIABLE static
    case Red: break;
    // Red FIELD static shop
    case Cart<int>::count: default: delete box;
    // Cart TYPE_REFERENCE static shop | count FIELD static shop | box VARIABLE member
  }
done:
  while (auto* step = next(out)) { step->template as<Point>(sizeof(Point)); }
  // next METHOD_CALL | out VARIABLE argument member | step VARIABLE member | as METHOD_CALL | Point TYPE_REFERENCE | Point VARIABLE argument
  typename Names::iterator at = Names().begin();
  // Names TYPE_REFERENCE static shop | iterator TYPE_REFERENCE static shop | Names METHOD_CALL static shop | begin METHOD_CALL
  decltype(at) also = at; counter = int(3.5);
  // at VARIABLE member | at VARIABLE member | counter VARIABLE static
}

namespace {
bool operator==(const Point& a, const Point& b) { return a.x == b.x and not a.bad(); }
// Point TYPE_REFERENCE | Point TYPE_REFERENCE | a VARIABLE member | x FIELD | b VARIABLE member | x FIELD | a VARIABLE member | bad METHOD_CALL
}

}  // namespace shop

extern "C" int entry(int argc, char** argv, const shop::Priced* priced = nullptr);
// shop VARIABLE static shop | Priced TYPE_REFERENCE static shop

int main(int argc, char* argv[]) {
  shop::Cart<long> cart{argc, shop::detail::limit};
  // shop VARIABLE static shop | Cart TYPE_REFERENCE static shop | argc VARIABLE member | shop VARIABLE static shop | detail VARIABLE static shop | limit VARIABLE static shop::detail
  return entry(argc, argv) ? EXIT_FAILURE : cart.price(shop::Size::Small);
  // entry METHOD_CALL static | argc VARIABLE argument member | argv VARIABLE argument member | EXIT_FAILURE VARIABLE | cart VARIABLE member | price METHOD_CALL | shop VARIABLE argument static shop | Size TYPE_REFERENCE argument static shop | Small FIELD argument static shop
}
