// microsoft/TypeScript#20843: a literal in a call that is not right yet
declare function pick<T>(obj: T, key: keyof T): void;
pick({ width: 0 }, "wi");
//                    ^ text: width
