module example.com/fantail-go

go 1.22
