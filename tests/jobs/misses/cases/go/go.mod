module example.org/cases

go 1.21
