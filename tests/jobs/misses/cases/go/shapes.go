package cases

import "strings"

type Shape struct {
	Corners int
	Colour  string
}

func describe(shape Shape) string {
	shape.Co
	//      ^ expect: Corners, Colour
	return strings.ToUp
	//                 ^ expect: ToUpper; rank <= 1; not: describe
}
