const lines = require("fs").readFileSync(0, "utf8").split("\n").filter(Boolean);
const busy = new Set();
for (const line of lines) {
  const [from, to] = line.split("-").map((t) => t.split(":").map(Number)).map(([h, m]) => h * 60 + m);
  for (let t = from; t < to; t++) busy.add(t);
}
console.log(busy.size);
