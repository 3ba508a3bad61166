#include <string>
#include <vector>

namespace shop {

constexpr double kRate = 0.19;

struct Item {
  std::string name;
  double price = 1.0;
};

class Cart : public Priced {
 public:
  explicit Cart(std::string owner) : owner_(std::move(owner)) {}

  void Add(const std::string& name, double price) {
    items_.push_back(Item{name, price});
  }

  double Total() const override {
    double sum = 0;
    for (const Item& item : items_) {
      sum += item.price * (1 + kRate);
    }
    return std::max(sum, 0.0);
  }

 private:
  std::string owner_;
  std::vector<Item> items_;
};

template <typename T>
T* Load(const std::vector<std::string>& lines) {
  if (lines.empty()) return nullptr;
  T* cart = new T(lines[0]);
  for (size_t i = 1; i < lines.size(); ++i) {
    cart->Add(lines[i], 1.0);
  }
  return cart;
}

}  // namespace shop
