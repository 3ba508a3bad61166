package shop

import (
	"fmt"
	"strings"
)

const rate = 0.19

type Item struct {
	Name  string
	Price float64
}

type Cart struct {
	owner string
	items []Item
}

func (c *Cart) Add(name string, price float64) error {
	if price < 0 {
		return fmt.Errorf("negative: %s", name)
	}
	c.items = append(c.items, Item{Name: name, Price: price})
	return nil
}

func (c *Cart) Total() (sum float64) {
	for _, item := range c.items {
		sum += item.Price * (1 + rate)
	}
	return sum
}

func Load(lines []string) (*Cart, error) {
	cart := &Cart{owner: strings.TrimSpace(lines[0])}
	for i := 1; i < len(lines); i++ {
		if err := cart.Add(lines[i], 1); err != nil {
			return nil, err
		}
	}
	return cart, nil
}
