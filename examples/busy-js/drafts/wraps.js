const fs = require("fs");
const busy = new Array(1440).fill(false);
for (const line of fs.readFileSync(0, "utf8").split(/\r?\n/)) {
  const m = line.match(/(\d+):(\d+)-(\d+):(\d+)/);
  if (!m) continue;
  const [from, to] = [m[1] * 60 + +m[2], m[3] * 60 + +m[4]];
  for (let t = from; t !== to; t = (t + 1) % 1440) busy[t] = true;
}
console.log(busy.filter(Boolean).length);
