const text = require("fs").readFileSync(0, "utf8");
let total = 0;
for (const m of text.matchAll(/(\d+):(\d+)-(\d+):(\d+)/g)) total += (m[3] - m[1]) * 60 + (m[4] - m[2]);
console.log(total);
