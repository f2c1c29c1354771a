// The baseline "bare": the runtime's own server and a constant reply. Arguments: header fields as JSON, the text.
import { serveText } from "./serve-text.ts";

const [headers = "{}", text = ""] = process.argv.slice(2);
const port = await serveText(() => text, JSON.parse(headers));
console.log(`http://127.0.0.1:${port}`);
