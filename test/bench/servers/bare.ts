// The baseline "bare": the runtime's own server and a constant text. Arguments: the text.
import { serveText } from "./serve-text.ts";

const text = process.argv[2] ?? "";
console.log(`http://127.0.0.1:${await serveText(() => text)}`);
