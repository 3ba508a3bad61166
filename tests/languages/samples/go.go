// path: internal/shop/cart.go  (what the comments mean: see test_samples.py)
// declares: internal/shop Order total helper
// declares: internal/store Open Store
package shop

import "fmt"
import (
	"net/http"
	str "strings"

	"example.com/acme/internal/store"
	_ "gopkg.in/side.v2"
	"gopkg.in/yaml.v3"
)

const (
	Small Size = iota
	// Size TYPE_REFERENCE static internal/shop
	Large
	Huge = Large << 1
	// Large VARIABLE static internal/shop
)

var carts, limit = map[string]*Cart{}, helper(Large, 3)
// string TYPE_REFERENCE static builtin | Cart TYPE_REFERENCE static internal/shop | helper METHOD_CALL static internal/shop | Large VARIABLE argument static internal/shop

type Size int
// int TYPE_REFERENCE static builtin

type Priced interface {
	fmt.Stringer
	// fmt VARIABLE static fmt | Stringer TYPE_REFERENCE static fmt
	Price(rate float64) (cents int64, err error)
	// float64 TYPE_REFERENCE static builtin | int64 TYPE_REFERENCE static builtin | error TYPE_REFERENCE static builtin
}

type number interface{ ~int | ~float64 }
// int TYPE_REFERENCE static builtin | float64 TYPE_REFERENCE static builtin

type Pair[K comparable, V any] struct {
	// comparable TYPE_REFERENCE static builtin | any TYPE_REFERENCE static builtin
	Key   K `json:"key"`
	// K TYPE_REFERENCE member
	Value V
	// V TYPE_REFERENCE member
}

type Cart struct {
	http.Handler
	// http VARIABLE static net/http | Handler TYPE_REFERENCE static net/http
	*Order
	// Order TYPE_REFERENCE static internal/shop
	Items  []Pair[string, int]
	// Pair TYPE_REFERENCE static internal/shop | string TYPE_REFERENCE static builtin | int TYPE_REFERENCE static builtin
	grid   [Large]func(at, to Size) chan<- bool
	// Large VARIABLE static internal/shop | Size TYPE_REFERENCE static internal/shop | bool TYPE_REFERENCE static builtin
}

func New(name string, sizes ...Size) (*Cart, error) {
	// string TYPE_REFERENCE static builtin | Size TYPE_REFERENCE static internal/shop | Cart TYPE_REFERENCE static internal/shop | error TYPE_REFERENCE static builtin
	cart := &Cart{Items: []Pair[string, int]{{Key: name, Value: 1}}, Order: nil}
	// Cart TYPE_REFERENCE static internal/shop | Items FIELD member internal/shop | Pair TYPE_REFERENCE static internal/shop | string TYPE_REFERENCE static builtin | int TYPE_REFERENCE static builtin | Key FIELD member internal/shop | name VARIABLE member | Value FIELD member internal/shop | Order FIELD member internal/shop
	carts[name], limit = cart, len(sizes)
	// carts VARIABLE static internal/shop | name VARIABLE member | limit VARIABLE static internal/shop | cart VARIABLE member | len METHOD_CALL static builtin | sizes VARIABLE argument member
	client := http.Client{Transport: yaml.Default, Jar: unknown}
	// http VARIABLE static net/http | Client TYPE_REFERENCE static net/http | Transport FIELD member net/http | yaml VARIABLE static gopkg.in/yaml.v3 | Default FIELD static gopkg.in/yaml.v3 | Jar FIELD member net/http | unknown VARIABLE
	rates := map[Size]float64{Small: 1.5, limit: 2}
	// Size TYPE_REFERENCE static internal/shop | float64 TYPE_REFERENCE static builtin | Small VARIABLE static internal/shop | limit VARIABLE static internal/shop
	response, err := client.Get(fmt.Sprintf("%d {name}", rates[Large]))
	// client VARIABLE member | Get METHOD_CALL | fmt VARIABLE argument static fmt | Sprintf METHOD_CALL argument static fmt | rates VARIABLE argument member | Large VARIABLE argument static internal/shop
	body, err := response.Body, err
	// err VARIABLE member | response VARIABLE member | Body FIELD | err VARIABLE member
	if err := body.Close(); err != nil {
		// body VARIABLE member | Close METHOD_CALL | err VARIABLE member
		return nil, fmt.Errorf("close: %w", err)
		// fmt VARIABLE static fmt | Errorf METHOD_CALL static fmt | err VARIABLE argument member
	} else if str := str.TrimSpace(name); str == "" {
		// str VARIABLE static strings | TrimSpace METHOD_CALL static strings | name VARIABLE argument member | str VARIABLE member
		return cart, err
		// KEYWORDS: return
	}
	return cart, err
	// cart VARIABLE member | err VARIABLE member
}

func (c *Cart) Price(rate float64) (cents int64, err error) {
	// Cart TYPE_REFERENCE static internal/shop | float64 TYPE_REFERENCE static builtin | int64 TYPE_REFERENCE static builtin | error TYPE_REFERENCE static builtin
	defer func() { err = recover().(error) }()
	// err VARIABLE member | recover METHOD_CALL static builtin | error TYPE_REFERENCE static builtin
outer:
	for i, item := range c.Items {
		// c VARIABLE member | Items FIELD member internal/shop
		for total := i; total < item.Value; total++ {
			// i VARIABLE member | total VARIABLE member | item VARIABLE member | Value FIELD | total VARIABLE member
			continue outer
			// outer VARIABLE member
		}
		cents += int64(float64(total(item)) * rate)
		// cents VARIABLE member | int64 TYPE_REFERENCE static builtin | float64 TYPE_REFERENCE argument static builtin | total METHOD_CALL argument static internal/shop | item VARIABLE argument member | rate VARIABLE argument member
	}
	c.Order.Lock()
	// c VARIABLE member | Order FIELD member | Lock METHOD_CALL
	price, again := c.Price, (*Cart).Price
	// c VARIABLE member | Price FIELD member internal/shop | Cart TYPE_REFERENCE static internal/shop | Price FIELD
	_ = price
	// price VARIABLE member
	go again(c, Size(limit).Name())
	// again METHOD_CALL member | c VARIABLE argument member | Size TYPE_REFERENCE argument static internal/shop | limit VARIABLE argument static internal/shop | Name METHOD_CALL argument
	return
}

func (p Pair[A, B]) Swap() Pair[B, A] { return Pair[B, A]{p.Value, p.Key} }
// Pair TYPE_REFERENCE static internal/shop | Pair TYPE_REFERENCE static internal/shop | B TYPE_REFERENCE member | A TYPE_REFERENCE member | Pair TYPE_REFERENCE static internal/shop | B TYPE_REFERENCE member | A TYPE_REFERENCE member | p VARIABLE member | Value FIELD member internal/shop | p VARIABLE member | Key FIELD member internal/shop

func Map[T, R any](items []T, apply func(item T) R) (found []R) {
	// any TYPE_REFERENCE static builtin | T TYPE_REFERENCE member | T TYPE_REFERENCE member | R TYPE_REFERENCE member | R TYPE_REFERENCE member
	for _, item := range items {
		// items VARIABLE member
		found = append(found, apply(item))
		// found VARIABLE member | append METHOD_CALL static builtin | found VARIABLE argument member | apply METHOD_CALL argument member | item VARIABLE argument member
	}
	return found
	// found VARIABLE member
}

func describe(any interface{}, events <-chan store.Event) string {
	// store VARIABLE static internal/store | Event TYPE_REFERENCE static internal/store | string TYPE_REFERENCE static builtin
	type local struct{ size Size }
	// Size TYPE_REFERENCE static internal/shop
	names := Map[int, string](nil, func(n int) string { return str.Repeat("x", n) })
	// Map METHOD_CALL static internal/shop | int TYPE_REFERENCE static builtin | string TYPE_REFERENCE static builtin | int TYPE_REFERENCE static builtin | string TYPE_REFERENCE static builtin | str VARIABLE static strings | Repeat METHOD_CALL static strings | n VARIABLE argument member
	sum, made := Map[int](nil), make([]local, 0, cap(names))
	// Map METHOD_CALL static internal/shop | int TYPE_REFERENCE static builtin | make METHOD_CALL static builtin | local TYPE_REFERENCE argument member | cap METHOD_CALL argument static builtin | names VARIABLE argument member
	steps, i := []func(Size){nil}, 0
	// Size TYPE_REFERENCE static internal/shop
	steps[i](Small)
	// steps VARIABLE member | i VARIABLE member | Small VARIABLE argument static internal/shop
	switch made := any.(type) {
	// any VARIABLE member
	case *Cart, fmt.Stringer:
		// Cart TYPE_REFERENCE static internal/shop | fmt VARIABLE static fmt | Stringer TYPE_REFERENCE static fmt
		return made.String()
		// made VARIABLE member | String METHOD_CALL
	case nil, error:
		// KEYWORDS: case nil
	}
	select {
	case event, ok := <-events:
		// events VARIABLE member
		store.Open(event.Name, ok)
		// store VARIABLE static internal/store | Open METHOD_CALL static internal/store | event VARIABLE argument member | Name FIELD argument | ok VARIABLE argument member
	default:
		// KEYWORDS: default
	}
	var sum2, Small = sum, Small
	// sum VARIABLE member | Small VARIABLE static internal/shop
	switch size := Size(len(made)); {
	// Size TYPE_REFERENCE static internal/shop | len METHOD_CALL argument static builtin | made VARIABLE argument member
	case size > Large, sum2 == nil:
		// size VARIABLE member | Large VARIABLE static internal/shop | sum2 VARIABLE member
		fallthrough
		// KEYWORDS: fallthrough
	case Small == 0 && true:
		// Small VARIABLE member
		goto end
		// end VARIABLE member
	}
end:
	return string([]byte("é 𝒳")) + str.Title(describe(new(Order).Key, nil))
	// string TYPE_REFERENCE static builtin | byte TYPE_REFERENCE argument static builtin | str VARIABLE static strings | Title METHOD_CALL static strings | describe METHOD_CALL argument static internal/shop | new METHOD_CALL argument static builtin | Order TYPE_REFERENCE argument static internal/shop | Key FIELD argument
}

func init() {
	for range carts {
		// carts VARIABLE static internal/shop
		break
		// KEYWORDS: break
	}
	var done chan struct{}
	// KEYWORDS: var chan struct
	done <- struct{}{}
	// done VARIABLE member
}
