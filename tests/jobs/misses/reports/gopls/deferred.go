// golang/go#29313: a call that is deferred
package reports

import "fmt"

func main() {
	defer fmt.
	//        ^ expect: Println; not: main
}
