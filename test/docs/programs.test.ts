import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { COMPILE_CACHE } from "../support/compile-cache.ts";
import { runtimes } from "../support/runtimes.ts";
import { ON_NODE, useServer } from "../support/server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { fileOf } from "./pages.ts";
import { type Program, programs } from "./programs.ts";

/** Expected output of the programs, each identified by an excerpt of its source. */
const EXPECTED_OUTPUT: readonly (readonly [excerpt: string, lines: readonly RegExp[]])[] = [
  ["Hello from TypeScript.", [/^completed$/m, /^true message_played 1$/m]],
  ["Hello from my app.", [/show this as a QR code: http/, /^answered /m, /reason: 'message_played'/]],
  ["s3cr3t-session", [/^200$/m]],
  ['"calls in the console:"', [/^calls in the console: 200$/m]],
  ['"my calls:"', [/^my calls: 200 \[\]$/m]],
  ["error instanceof Refusal", [/^call_not_found/m]],
  ["ringport.events(me", [/^Workshop false$/m]],
  ["new ManualSystem()", [/^instance_not_linked$/m]],
  [
    "Hello from the client.",
    [
      /^COMPLETED message_played 1$/m,
      /^\+12025550100 \d+$/m,
      /^ACTIVE online$/m,
      /^true true$/m,
      /^call_not_found 404 .* true$/m,
      /^stream_unavailable$/m,
    ],
  ],
  ["httpSpeech", [/quality: 'natural'/]],
  [
    '"over:", end',
    [
      /^ringing $/m,
      /^answered $/m,
      /^mark tone$/m,
      /^completed stream_closed$/m,
      /^over: completed$/m,
      /callee: true$/m,
    ],
  ],
  ["ringport.webhooks.create", [/^hook_\w{26} whsec_\S{44}$/m]],
  ["answerRate: { floor", []],
  ["A batch in this program", [/^\{ WAITING: 1, INVALID: 1 \} the message needs the variable name/m]],
  ["created within a second", [/^created within a second: true$/m]],
];

/** Expected output of the programs that need a server with live streams. */
const STREAM_OUTPUT: typeof EXPECTED_OUTPUT = [
  ["closed with", [/^ringing $/m, /^answered $/m, /^mark tone$/m, /^completed stream_closed$/m, /^closed with 1000$/m]],
  ["the tone was", [/^the tone was reached$/m, /^completed stream_closed$/m]],
  ['stream.mark("beeped")', [/^reached$/m, /^answered$/m, /^mark$/m, /^completed$/m, /^completed stream_closed$/m]],
];

/** Programs that are only type-checked, with the reasons. */
const SKIPPED_PROGRAMS: readonly (readonly [excerpt: string, reason: string])[] = [
  ['openAsBlob("people.csv")', "it needs a file and a linked instance; test/client/batches.test.ts does the same"],
  ["register at $", "it serves until it is stopped; test/server/console.test.ts has such a server"],
  ["express().use(handler(ringport)).listen", "it serves until it is stopped; test/examples runs the app of examples/"],
  ['app.use("/voice", handler', "test/examples runs the same program from examples/"],
  ['from "fastify"', "test/examples runs the same program from examples/"],
  ['app.all("/voice/*"', "test/examples runs the same program from examples/"],
  ['app.post("/ringport", async', "it serves until it is stopped; test/docs/webhooks.test.ts sends it events"],
  ['app.post("/ringport", express', "it serves until it is stopped; test/docs/webhooks.test.ts sends it events"],
  ["respond as PATCH", "it is a route of Next.js; test/examples runs the same"],
  ["export function beeps", "the test of the speech adapter below runs it"],
  ["speechContract(", "it is a test; the test of the speech adapter below runs the same"],
  ["new pg.Pool(", "it needs a PostgreSQL; test/adapters/storage/host-database.test.ts opens the same"],
  ["storageContract(", "it is a test; test/contract runs the same"],
  ["export function silentLeg", "a part of an adapter; test/examples runs a complete one"],
  ['user: "100"', "it needs a trunk; test/adapters/telephony/sip uses several"],
  ["whatsappBusiness({", "it needs WhatsApp's servers; test/adapters/telephony/sip has a peer that keeps their rules"],
  ["new WaClient({", "it needs the client's packages; test/testing/whatsapp/client-types.test.ts has their signatures"],
  [
    'from "./zapo.ts"',
    "it needs the client's packages; test/examples/whatsapp.test.ts starts the example, whose client is scripted",
  ],
  ["cascadeAgent({", "it needs a language model; test/peers/agents.test.ts has one"],
  ["realtimeAgent({", "it needs a provider; test/adapters/agent/realtime.test.ts has one"],
  ['name: "parrot"', "it waits for keys; the test of the agent's port runs other agents"],
  ["transcriptSpeakers:", "it needs a server that recognises speech; test/peers/transcripts.test.ts has one"],
  ["export function lengths", "the test of the engine below runs it"],
  ["transcriptionContract(", "it is a test; the test of the engine below runs the same"],
  ["recordingsContract(", "it is a test; test/contract runs the same"],
  ["declare function likelihoodOfSpeech", "the model is the reader's"],
  ["declare function talk", "the bot is the reader's; test/server/twilio-bridge.test.ts connects one in the same way"],
  ["declare function myNetwork", "it is a test of the reader's own network"],
];

const allPrograms = programs();
const findProgram = (excerpt: string): Program => allPrograms.find(({ text }) => text.includes(excerpt))!;

test("every program on the pages runs, or has a reason not to", () => {
  const markers = [...EXPECTED_OUTPUT, ...STREAM_OUTPUT, ...SKIPPED_PROGRAMS].map(([excerpt]) => excerpt);
  for (const { page, line, text } of allPrograms)
    expect(markers.filter((excerpt) => text.includes(excerpt)).length, `${page}:${line}`).toBe(1);
  for (const excerpt of markers) expect(findProgram(excerpt), excerpt).toBeDefined();
});

describe.skipIf(ON_NODE.missing).each([
  ["programs", EXPECTED_OUTPUT, {}],
  ["programs with live streams", STREAM_OUTPUT, { RINGPORT_STREAM_PREVIEW: "1" }],
] as const)(`%s on ${ON_NODE.title}`, (_, expectations, env) => {
  const server = useServer(ON_NODE, { env });

  test.each(expectations)("the program with %j prints its documented output", async (excerpt, patterns) => {
    const client = await server.as("reader");
    const { text } = findProgram(excerpt);
    const instance = /inst_…|INSTANCE/.test(text) ? (await client.activeInstance()).id : "";
    const output = await run(
      text
        .replace("http://127.0.0.1:8080", server.base)
        .replace("rp_live_…", client.token!)
        .replace("port: 8080", "port: 0")
        .replace("inst_…", instance),
      { RINGPORT_URL: server.base, RINGPORT_TOKEN: client.token!, INSTANCE: instance },
    );
    for (const line of patterns) expect(output).toMatch(line);
  });
});

/** Runs a program to its end in a bare environment, and returns its output. */
function run(text: string, env: Readonly<Record<string, string>>): Promise<string> {
  const folder = temporaryFolder("program");
  const file = join(folder, "program.ts");
  writeFileSync(file, text);
  const [program = "", ...flags] = runtimes.find(({ name }) => name === "node26")!.command;
  const hook = pathToFileURL(fileOf("test/docs/by-name.ts")).href;
  const child = spawn(program, [...flags, "--import", hook, file], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILE_CACHE, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 50_000,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (piece: string) => {
      output += piece;
    });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve(output) : reject(new Error(`the program ended with ${code}:\n${output}\n${text}`)),
    );
  });
}
