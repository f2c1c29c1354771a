/** Allowed imports of the files in one part of the tree, defined only by this table. */
export interface Layer {
  /** A folder, ending in "/", or one file. The longest match decides. */
  readonly files: string;
  /** Folders, files, packages, and runtimes such as "node:". A folder may always import itself. */
  readonly allowed: readonly string[];
  /** Like `allowed`, for `import type` only. */
  readonly types?: readonly string[];
  /** The rule in one sentence. */
  readonly rule: string;
}

const BASE = "src/base/";
const DOMAIN = "src/domain/";
const PORTS = "src/ports/";
const AUDIO = "src/audio/";
const APPLICATION = "src/application/";
const HTTP = "src/http/";
/** Default adapters for omitted options: the only entrance from src/ into adapters/. */
const DEFAULTS = "adapters/defaults.ts";
const FAMILIES = [
  "agent",
  "audio",
  "body-parsing",
  "local-models",
  "recordings",
  "speech",
  "storage",
  "telephony",
  "transcription",
  "workers",
].map((family) => `adapters/${family}/`);

const WEB_ONLY = "src/ uses web standards: it reaches the runtime through a port that adapters/ implements.";
const ADAPTER = "An adapter imports ports, audio and domain of src/, and no other adapter family.";

const STACK_PORTS = "adapters/sip-stack/ports.ts";
/** Folders of the SIP stack from the lowest to the highest, and their imports besides those below them. */
const STACK_FOLDERS: readonly (readonly [folder: string, packages: readonly string[]])[] = [
  ["message", [STACK_PORTS]],
  ["transport", [STACK_PORTS, "node:"]],
  ["transaction", [STACK_PORTS]],
  ["auth", [STACK_PORTS, "node:"]],
  ["dialog", [STACK_PORTS]],
  ["media", [STACK_PORTS, "node:", "libopus-wasm"]],
  ["sdp", ["node:"]],
];

export const LAYERS: readonly Layer[] = [
  { files: BASE, allowed: [], rule: "src/base imports nothing but itself." },
  { files: DOMAIN, allowed: [BASE, "valibot"], rule: "src/domain is pure: it imports src/base and valibot." },
  { files: PORTS, allowed: [BASE, DOMAIN], rule: "src/ports imports src/base and src/domain." },
  { files: AUDIO, allowed: [BASE, PORTS], rule: "src/audio imports src/base and src/ports." },
  {
    files: APPLICATION,
    allowed: [BASE, DOMAIN, PORTS, AUDIO],
    rule: `Imports run http → application → domain, never back. ${WEB_ONLY}`,
  },
  {
    files: HTTP,
    allowed: [
      BASE,
      DOMAIN,
      PORTS,
      AUDIO,
      APPLICATION,
      "valibot",
      "@valibot/to-json-schema",
      "itty-router",
      "qrcode-generator",
    ],
    rule: `src/http is the outermost layer of the server. ${WEB_ONLY}`,
  },
  {
    files: "src/client/",
    allowed: [BASE, "src/audio/samples/stream-format.ts", "ky", "partysocket"],
    types: [DOMAIN, HTTP],
    rule: "src/client runs in browsers: it imports ky, partysocket, src/base, the stream formats, and types of http and domain.",
  },
  {
    files: "src/testing/",
    allowed: [BASE, DOMAIN, PORTS, AUDIO],
    rule: `src/testing tests only ports. ${WEB_ONLY}`,
  },
  {
    files: "src/options.ts",
    allowed: [BASE, DOMAIN, PORTS, HTTP],
    rule: "src/options.ts describes the options: it imports no use case and no adapter.",
  },
  {
    files: "src/lifecycle.ts",
    allowed: [BASE, DOMAIN, PORTS, APPLICATION, HTTP, "src/options.ts"],
    rule: `src/lifecycle.ts starts and stops its components. ${WEB_ONLY}`,
  },
  {
    files: "src/current-application.ts",
    allowed: [DOMAIN, PORTS, APPLICATION, HTTP],
    rule: `src/current-application.ts leads to the running application. ${WEB_ONLY}`,
  },
  {
    files: "src/ringport.ts",
    allowed: [
      ...[BASE, DOMAIN, PORTS, AUDIO, APPLICATION, HTTP],
      ...["src/current-application.ts", "src/lifecycle.ts", "src/options.ts", "src/version.ts", DEFAULTS],
    ],
    rule: "src/ringport.ts puts src/ together, and imports only adapters/defaults.ts from adapters/.",
  },
  {
    files: "src/index.ts",
    allowed: [BASE, DOMAIN, PORTS, APPLICATION, "src/options.ts", "src/ringport.ts"],
    rule: `src/index.ts exports the library. ${WEB_ONLY}`,
  },
  { files: "src/version.ts", allowed: [], rule: "src/version.ts is one constant." },

  {
    files: "adapters/agent/",
    allowed: [
      ...[BASE, DOMAIN, PORTS, "adapters/provider-http/", "adapters/untrusted-hosts/"],
      ...["node:", "ky", "valibot", "@valibot/to-json-schema"],
    ],
    types: ["src/options.ts"],
    rule: ADAPTER,
  },
  { files: "adapters/audio/", allowed: [BASE, DOMAIN, PORTS, AUDIO, "mpg123-decoder"], rule: ADAPTER },
  { files: "adapters/body-parsing/", allowed: [BASE, DOMAIN, PORTS, "node:"], rule: ADAPTER },
  { files: "adapters/recordings/", allowed: [BASE, DOMAIN, PORTS, AUDIO, "adapters/audio/", "node:"], rule: ADAPTER },
  { files: "adapters/provider-http/", allowed: [BASE, PORTS, "eventsource-parser", "ky", "ws"], rule: ADAPTER },
  {
    files: "adapters/server/",
    allowed: [BASE, DOMAIN, PORTS, HTTP, "node:", "ws"],
    rule: "A server imports ports and replies of src/http, and no other adapter family.",
  },
  {
    files: "adapters/speech/",
    allowed: [
      BASE,
      DOMAIN,
      PORTS,
      AUDIO,
      "adapters/provider-http/",
      "node:",
      "ky",
      "@echogarden/espeak-ng-emscripten",
      "@bjorn3/browser_wasi_shim",
    ],
    rule: ADAPTER,
  },
  {
    files: "adapters/storage/",
    allowed: [BASE, DOMAIN, PORTS, AUDIO, "node:", "kysely", "pg"],
    rule: ADAPTER,
  },
  ...STACK_FOLDERS.map(([folder, packages], at) => ({
    files: `adapters/sip-stack/${folder}/`,
    allowed: [...packages, ...STACK_FOLDERS.slice(0, at).map(([lower]) => `adapters/sip-stack/${lower}/`)],
    rule: "adapters/sip-stack imports only its ports.ts from Ringport, and each of its folders imports only those below it.",
  })),
  {
    files: STACK_PORTS,
    allowed: [BASE, PORTS, AUDIO, "src/domain/public-address.ts"],
    rule: "The ports of the SIP stack are a clock, a log, audio frames and small tools.",
  },
  {
    files: "adapters/telephony/",
    allowed: [
      ...[BASE, DOMAIN, PORTS, AUDIO, "adapters/audio/", "adapters/recordings/", "adapters/untrusted-hosts/"],
      ...["node:", "valibot"],
    ],
    rule: ADAPTER,
  },
  {
    files: "adapters/telephony/sip/",
    allowed: [
      ...[BASE, DOMAIN, PORTS, AUDIO, "adapters/sip-stack/", "adapters/telephony/", "adapters/untrusted-hosts/"],
      ...["node:", "libphonenumber-js", "valibot"],
    ],
    rule: "Trunks, routes and accounts place calls through adapters/sip-stack.",
  },
  {
    files: "adapters/local-models/",
    allowed: [BASE, DOMAIN, PORTS, AUDIO, "adapters/speech/", "adapters/transcription/", "node:", "modern-tar"],
    rule: `${ADAPTER} Only adapters/local-models/host-engine.ts loads the engine, in a separate process.`,
  },
  {
    files: "adapters/transcription/",
    allowed: [BASE, DOMAIN, PORTS, AUDIO, "adapters/provider-http/", "node:", "ky"],
    types: ["src/options.ts"],
    rule: ADAPTER,
  },
  {
    files: "adapters/untrusted-hosts/",
    allowed: [BASE, DOMAIN, PORTS, "node:"],
    rule: "adapters/untrusted-hosts looks up and connects to hosts for several adapter families, and imports none of them.",
  },
  {
    files: "adapters/workers/",
    allowed: [BASE, PORTS, "node:"],
    rule: "adapters/workers is a generic pool: it imports no adapter family.",
  },
  {
    files: "adapters/defaults",
    allowed: [BASE, DOMAIN, PORTS, AUDIO, "src/options.ts", ...FAMILIES, "adapters/untrusted-hosts/", "node:"],
    types: [APPLICATION],
    rule: "adapters/defaults puts the server's adapter families together.",
  },
  {
    files: "adapters/console/",
    allowed: [BASE, DOMAIN, PORTS, HTTP, "src/version.ts", "node:", "valibot"],
    types: [APPLICATION, "src/ringport.ts"],
    rule: "adapters/console serves the console over an existing Ringport.",
  },
  {
    files: "adapters/console/app/",
    allowed: [BASE, DOMAIN, AUDIO, "src/client/", "preact", "@preact/signals"],
    types: [HTTP, "adapters/console/api.ts", "adapters/telephony/simulator/phones/phone-message.ts"],
    rule: "The pages run in browsers: they import the client, pure rules, samples, and only types of the server's part.",
  },
  {
    files: "adapters/cli/",
    allowed: [
      ...[
        BASE,
        DOMAIN,
        PORTS,
        AUDIO,
        APPLICATION,
        "src/client/",
        "src/http/sockets/socket-budget.ts",
        "src/options.ts",
        "src/ringport.ts",
        "src/version.ts",
      ],
      ...[
        "adapters/defaults/",
        DEFAULTS,
        "adapters/console/",
        "adapters/untrusted-hosts/",
        "adapters/server/",
        "adapters/sip-stack/media/",
        ...FAMILIES,
      ],
      ...["node:", "pg", "qrcode-generator"],
    ],
    rule: "adapters/cli is the outermost part: it imports what it starts, and nothing imports it.",
  },
];
