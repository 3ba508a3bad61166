// Loaded before a test's file, so that a test that would end the process fails instead.
'use strict';

for (const name of ['exit', 'reallyExit', 'abort']) {
  const end = process[name];
  process[name] = (...given) => {
    if (asking()) throw new Error(`a test ended its process (process.${name})`);
    return end.apply(process, given);
  };
}

// Node.js itself ends processes, too.
function asking() {
  const calls = new Error().stack.split('\n').slice(3);
  return calls.length > 0 && !/\(?node:/.test(calls[0]);
}
