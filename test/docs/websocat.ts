import process from "node:process";
import { WebSocket } from "ws";

/*
 * Stand-in for websocat 1 with the options of the guides, since Debian has no package for it: `-H` takes every following word up to
 * the next option, all input is sent, and the end of the input closes the socket.
 */

const words = process.argv.slice(2);
const headers: Record<string, string> = {};
const urls: string[] = [];
let isHeader = false;
for (const word of words) {
  if (word.startsWith("-")) isHeader = word === "-H";
  else if (!isHeader) urls.push(word);
  else headers[word.slice(0, word.indexOf(":"))] = word.slice(word.indexOf(":") + 1).trim();
}
const [url] = urls;
if (urls.length !== 1 || !url) {
  console.error(`websocat: expected one address, not ${urls.length}`);
  process.exit(1);
}
const socket = new WebSocket(url, { headers });
socket.on("message", (data: Buffer) => process.stdout.write(data));
socket.on("error", ({ message }) => {
  console.error(`websocat: ${message}`);
  process.exit(1);
});
socket.on("open", () => {
  process.stdin.on("data", (data) => socket.send(data));
  process.stdin.on("end", () => socket.close());
});
