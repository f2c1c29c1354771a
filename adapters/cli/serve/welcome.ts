import { resolve } from "node:path";
import type { Ringport } from "../../../src/ringport.ts";
import type { Listening } from "../../server/listening.ts";
import type { ServerSettings } from "../settings/read-settings.ts";
import { isOutage } from "../storage-fault.ts";
import { isTerminal, print } from "../terminal/terminal.ts";
import { type FirstToken, firstToken } from "./first-token.ts";
import { streamLine, voicesLines } from "./speech-lines.ts";

/** Options of {@link printWelcome}. */
export interface Welcome {
  readonly ringport: Ringport;
  readonly listening: Listening;
  /** The server's URL in the local network. */
  readonly networkUrl: string;
  readonly settings: ServerSettings;
}

/** Prints the server's address and features; on the first start also a token and an example request. */
export async function printWelcome({ ringport, listening, networkUrl, settings }: Welcome): Promise<void> {
  const { options } = settings;
  const base = listening.url + (options.basePath ?? "");
  // Comes first: programs read the token file as soon as the address is printed.
  const first = await firstToken(ringport.tokens, settings.tokenFile);
  print(`Ringport is listening on ${base}`);
  print();
  if (settings.console !== "off") print(`  Console  ${consoleUrl(base, settings)}`);
  print(`  API      ${base}/v1`);
  print(`  Docs     ${base}/docs`);
  if (options.publicUrl) print(`  Public   ${options.publicUrl}`);
  else if (networkUrl !== listening.url)
    print(`  Network  ${networkUrl} (QR codes lead there; RINGPORT_PUBLIC_URL changes that)`);
  print(`  Data     ${resolve(options.data ?? "./data")}${options.databaseUrl ? ", calls in PostgreSQL" : ""}`);
  const voices = await ringport.voices().catch(ignoreOutage);
  if (voices) print(`  Voices   ${(await voicesLines(voices, options)).join(`\n${" ".repeat(11)}`)}`);
  print(`  Stream   ${await streamLine(options)}`);
  print();
  if (settings.console !== "off") await printRegistration(ringport, consoleUrl(base, settings), first !== undefined);
  // The certificate is issued for the host name of the public URL.
  if (first) printFirstToken(first, (settings.tls && options.publicUrl) ?? base);
}

/** URL of the console. If the public URL uses HTTPS, a browser's session works only there. */
function consoleUrl(base: string, { options: { publicUrl } }: ServerSettings): string {
  return `${publicUrl?.replace(/\/+$/, "") ?? base}/console`;
}

/**
 * Prints how the first person registers, until an account exists. Only a terminal shows the link: other outputs end up
 * in logs.
 */
async function printRegistration({ accounts }: Ringport, address: string, isFirstStart: boolean): Promise<void> {
  if (!isTerminal()) {
    if (isFirstStart) print("To register in the console, run ringport account code: it prints a link that works once");
    return;
  }
  const first = await accounts.firstCode().catch(ignoreOutage);
  if (!first) return;
  print("No account exists yet. This link creates the first one, an administrator's; it is valid for 24 hours:");
  print();
  print(`  ${address}/register#code=${first.code}`);
  print();
}

/** Ignores a storage outage: the server has started, and continues without the storage. */
function ignoreOutage(error: unknown): undefined {
  if (!isOutage(error)) throw error;
}

function printFirstToken(first: FirstToken, base: string): void {
  if (first.kind === "left") {
    print(
      "There is no token yet: ringport token create --user NAME creates one (or start with RINGPORT_TOKEN_FILE=PATH)",
    );
    return;
  }
  if (first.kind === "written") print(`This is the first start. Your token is in ${first.path}`);
  else {
    print(
      "This is the first start. Your token, shown this one time only (ringport token create --user admin creates more):",
    );
    print();
    print(`  ${first.token}`);
  }
  print();
  print("Create your first instance:");
  print();
  print(`  ${curlLine(base, first.kind === "written" ? `$(cat ${shellWord(first.path)})` : first.token)}`);
  print();
}

function curlLine(base: string, token: string): string {
  return `curl -X POST ${base}/v1/instances -H "Authorization: Bearer ${token}" -H "Content-Type: application/json" -d '{"name":"My phone"}'`;
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
