"use strict";
// Read what `pack_json` in rendering/htmlsite.py wrote: JSON, compressed with zlib, in base64, since a page opened from
// disk can load only scripts.
const ciEval = {
  unpacked: (text) => {
    const read = atob(text);
    const bytes = new Uint8Array(read.length);
    for (let at = 0; at < read.length; at++) bytes[at] = read.charCodeAt(at);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
  },
};
