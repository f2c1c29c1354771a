import type { CallForm } from "./call-form.ts";
import { callRequest } from "./call-form.ts";

/** Placeholder for the Base64 text of an audio file. */
const AUDIO_MARK = "\u0000audio\u0000";
/** The file name in an example before a file is chosen. */
const DEFAULT_FILE = "message.mp3";

/** The command that places a form's call. @param url URL of the HTTP API */
export function curlExample(form: CallForm, url: string): string {
  const json = JSON.stringify(callRequest(form, AUDIO_MARK).body, null, 2);
  const request = (data: string): string =>
    [
      `curl -sS ${shellQuote(`${url}/v1/calls`)} \\`,
      '  -H "Authorization: Bearer $RINGPORT_TOKEN" \\',
      '  -H "Content-Type: application/json" \\',
      `  -d ${data}`,
    ].join("\n");
  const [before = "", after] = json.split(JSON.stringify(AUDIO_MARK).slice(1, -1));
  if (after === undefined) return request(shellQuote(json));
  // A file does not fit into a command's arguments.
  return [
    `printf %s ${shellQuote(before)} > call.json`,
    `base64 < ${shellQuote(fileName(form))} | tr -d '\\n' >> call.json`,
    `printf %s ${shellQuote(after)} >> call.json`,
    request("@call.json"),
  ].join("\n");
}

/** The program that places a form's call and waits for its end. @param url URL of the HTTP API */
export function typeScriptExample(form: CallForm, url: string): string {
  const body = literal(callRequest(form, AUDIO_MARK).body);
  const readCode = `(await readFile(${JSON.stringify(fileName(form))})).toString("base64")`;
  const withFile = body.replace(JSON.stringify(AUDIO_MARK), () => readCode);
  const importLine = withFile === body ? "" : 'import { readFile } from "node:fs/promises";\n';
  return `${importLine}import { createClient } from "ringport/client";

const ringport = createClient({ url: ${JSON.stringify(url)}, token: process.env.RINGPORT_TOKEN! });
const call = await ringport.calls.create(${withFile});
${form.type === "DYNAMIC_STREAM" ? ECHO_STREAM : WAIT_FOR_END}`;
}

const WAIT_FOR_END = `const { status, outcome } = await ringport.waitForCall(call.id);
console.log(status, outcome.reason);
`;

const ECHO_STREAM = `const stream = await ringport.stream(call.id, { audio: "callee" });
for await (const frame of stream.audio()) await stream.write(frame); // an echo
console.log(await stream.ended);
`;

/** The text quoted as one word for a POSIX shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function fileName({ audio }: CallForm): string {
  return audio?.name ?? DEFAULT_FILE;
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
/** Maximum length of an object that stays on one line, characters. */
const ONE_LINE = 70;

/** A JSON value in TypeScript style: keys without quotes, short objects on one line. */
export function literal(value: unknown, indent = ""): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const [open, close, padding] = Array.isArray(value) ? ["[", "]", ""] : ["{", "}", " "];
  const items = (itemIndent: string): string[] =>
    Array.isArray(value)
      ? value.map((item) => literal(item, itemIndent))
      : Object.entries(value).map(([key, item]) => `${keyOf(key)}: ${literal(item, itemIndent)}`);
  const compactItems = items("");
  if (compactItems.length === 0) return open + close;
  const line = `${open}${padding}${compactItems.join(", ")}${padding}${close}`;
  if (line.length <= ONE_LINE && !line.includes("\n")) return line;
  return `${open}\n${items(inner)
    .map((item) => `${inner}${item},\n`)
    .join("")}${indent}${close}`;
}

/** The key of an object literal; `__proto__: …` would set the prototype. */
function keyOf(key: string): string {
  if (key === "__proto__") return '["__proto__"]';
  return IDENTIFIER.test(key) ? key : JSON.stringify(key);
}
