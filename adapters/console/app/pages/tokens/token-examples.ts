import type { TokenScope } from "../../../../../src/domain/access/token-scope.ts";

/** A token, and the details that an example needs. */
export interface TokenUse {
  /** Base URL of the HTTP API. */
  readonly url: string;
  readonly token: string;
  /** Null: all scopes. */
  readonly scopes: readonly TokenScope[] | null;
  /** An instance to call from; undefined if there is none yet. */
  readonly instance: string | undefined;
}

/** An unassigned number that answers on the simulated network. */
const NUMBER = "+12025550100";
const TEXT = "Hello from Ringport.";
const VOICE = "en-US-1";

/** A request that works when pasted into a shell. */
export function curlTokenExample(use: TokenUse): string {
  const head = `-H ${shellQuote(`Authorization: Bearer ${use.token}`)}`;
  const body = bodyOf(use);
  if (body === undefined) return `curl -sS ${shellQuote(`${use.url}/v1/instances`)} \\\n  ${head}`;
  const [path, value] = body;
  return [
    `curl -sS ${shellQuote(use.url + path)}`,
    head,
    `-H 'Content-Type: application/json'`,
    `-d ${shellQuote(JSON.stringify(value))}`,
  ].join(" \\\n  ");
}

/** A program that does the same. */
export function typescriptExample(use: TokenUse): string {
  const lines = [
    'import { createClient } from "ringport/client";',
    "",
    `const ringport = createClient({ url: ${JSON.stringify(use.url)}, token: ${JSON.stringify(use.token)} });`,
    "",
  ];
  const body = bodyOf(use);
  if (body === undefined)
    return [
      ...lines,
      "for await (const { id, name, status } of ringport.instances.list())",
      "  console.log(id, name, status);",
    ].join("\n");
  const [path, value] = body;
  const method = path === "/v1/calls" ? "calls" : "instances";
  return [...lines, `const { id } = await ringport.${method}.create(${literal(value)});`, "console.log(id);"].join(
    "\n",
  );
}

/** Path and body of the example; undefined if the example only reads, because the token can neither call nor manage. */
function bodyOf({ scopes, instance }: TokenUse): readonly [path: string, body: object] | undefined {
  const hasScope = (scope: TokenScope): boolean => scopes === null || scopes.includes(scope);
  if (hasScope("call") && instance !== undefined) {
    const tts = { text: TEXT, voiceId: VOICE };
    return ["/v1/calls", { instanceId: instance, type: "FIXED_TTS", target: { phoneNumber: NUMBER }, tts }];
  }
  if (hasScope("admin")) return ["/v1/instances", { name: "Front desk" }];
  return undefined;
}

/** The text quoted as an argument for a POSIX shell. */
function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** JSON in TypeScript style: names without quotes. */
function literal(value: object): string {
  return JSON.stringify(value, null, 2).replace(/^(\s*)"(\w+)":/gm, "$1$2:");
}
