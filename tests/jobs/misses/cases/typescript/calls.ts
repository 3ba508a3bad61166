function area(width: number, height: number): number {
    return width * hei
    //                ^ expect: height; rank <= 1
    //                  leaves: return width * height
}

describ
//     ^ not: height
