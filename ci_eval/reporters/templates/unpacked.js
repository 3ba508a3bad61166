"use strict";
// What `packed` of rendering/htmldata.py made of JSON: by zlib, in base64, since a page opened from disk may load scripts
// only.
const ciEval = {
  unpacked: (text) => {
    const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
  },
};
