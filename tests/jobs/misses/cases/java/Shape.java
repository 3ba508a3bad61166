class Shape {
    int corners;
    String colour;

    int describe(Shape other) {
        return other.cor
        //              ^ expect: corners; rank <= 1
    }
}
