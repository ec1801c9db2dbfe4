const minutes = (text) => {
  const [h, m] = text.split(":").map(Number);
  return h * 60 + m;
};
const meetings = require("fs").readFileSync(0, "utf8").trim().split("\n").filter((l) => l)
  .map((l) => l.split("-").map(minutes)).sort((a, b) => a[0] - b[0]);
let total = 0, end = -1;
for (const [from, to] of meetings) {
  total += Math.max(0, to - Math.max(from, end));
  end = Math.max(end, to);
}
console.log(total);
