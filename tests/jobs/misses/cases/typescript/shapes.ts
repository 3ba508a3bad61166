interface Shape {
    corners: number;
    colour: string;
}

function describe(shape: Shape): string {
    return shape.co
    //             ^ expect: corners, colour; not: describe
}

const name = "sha"
//               ^ silent
