import { writeFile } from "node:fs/promises";
import process from "node:process";
import { type Client, type InstanceDetails, type QrCode, RingportError } from "../../../src/client/index.ts";
import { sleep } from "../../../src/client/pause.ts";
import type { Interruption } from "../serve/signals.ts";
import { LiveLine } from "../terminal/live-line.ts";
import { modulesOfPng } from "../terminal/qr-modules.ts";
import {
  coloursAllowed,
  isTerminal,
  outputClosed,
  paint,
  print,
  printJsonLine,
  withoutColours,
} from "../terminal/terminal.ts";
import { terminalQr } from "../terminal/terminal-qr.ts";
import { UsageError } from "../usage-error.ts";
import { isSimulated, pressLink } from "./simulated-phone.ts";

/** Options for linking a phone. */
export interface LinkOptions {
  readonly json: boolean;
  /** File to write the current code to. */
  readonly png?: string | undefined;
  /** True to wait until the phone is linked. Default: true. */
  readonly wait?: boolean;
  /** True to scan the code with a simulated phone. Default: false. */
  readonly scansAutomatically?: boolean;
  readonly interrupted: Interruption;
}

const POLL_MS = 500;
/** Maximum time for a newly linked line to come online, ms. */
const ONLINE_TIMEOUT_MS = 10_000;
/** Bounds on the wait for the next code, ms, in case the expiry time is missing or the clocks differ. */
const MIN_CODE_MS = 1_000;
const MAX_CODE_MS = 60_000;

/** Draws an instance's code, and each new one, until a phone has been linked; returns the exit code. */
export async function linkPhone(client: Client, id: string, options: LinkOptions): Promise<number> {
  const { interrupted, json, wait = true, scansAutomatically = false } = options;
  const signal = AbortSignal.any([interrupted.signal, outputClosed]);
  const picture = new Picture();
  const liveLine =
    wait && !json ? new LiveLine((ms) => `waiting to be scanned … ${Math.floor(ms / 1000)} s`) : undefined;
  try {
    let drawnCode: string | undefined;
    const isSimulatedPhone = scansAutomatically && (await isSimulated(client, id, signal));
    for (;;) {
      const code = await codeOf(client, id, signal);
      if (!code) break;
      if (isSimulatedPhone && code.page !== null) {
        if (await pressLink(code.page, signal)) break;
        await sleep(POLL_MS, signal);
        continue;
      }
      if (code.pngBase64 !== drawnCode) {
        drawnCode = code.pngBase64;
        liveLine?.clear();
        await show(id, code, picture, options);
      }
      if (!wait) return 0;
      if (await waitUntilLinked(client, id, lifetimeMs(code), signal)) break;
    }
    liveLine?.stop();
    reportLinked(await waitUntilOnline(client, id, signal), json);
    return 0;
  } catch (error) {
    if (!signal.aborted) throw error;
    return interrupted.signal.aborted ? interrupted.exitCode() : 0;
  } finally {
    liveLine?.stop();
  }
}

/** The current code; undefined if the number is already linked. */
async function codeOf(client: Client, id: string, signal: AbortSignal): Promise<QrCode | undefined> {
  try {
    return await client.instances.qrCode(id, { signal });
  } catch (error) {
    if (error instanceof RingportError && error.code === "instance_already_linked") return undefined;
    throw error;
  }
}

async function show(id: string, code: QrCode, picture: Picture, { png, json }: LinkOptions): Promise<void> {
  const bytes = Buffer.from(code.pngBase64, "base64");
  if (png !== undefined)
    await writeFile(png, bytes).catch((cause: NodeJS.ErrnoException) => {
      throw new UsageError(`--png is "${png}": the file cannot be written (${cause.code ?? cause.message})`, { cause });
    });
  if (json) {
    const { pngBase64: png_base64, message, expiresAt: expires_at, sequence, page } = code;
    printJsonLine({ event: "code", instance_id: id, png_base64, message, expires_at, sequence, page });
    return;
  }
  const lines = terminalQr(modulesOfPng(bytes), { colours: coloursAllowed(process.stdout) });
  picture.draw([...lines, code.message, ...(png === undefined ? [] : [`The code is also in ${png}.`])]);
}

/** A block of lines that is redrawn in place on a terminal. */
class Picture {
  #height = 0;

  draw(lines: readonly string[]): void {
    if (isTerminal() && this.#height > 0) process.stdout.write(`\x1b[${this.#height}A\x1b[J`);
    for (const line of lines) print(line);
    this.#height = lines.reduce((sum, line) => sum + rowsOf(line), 0);
  }
}

/** Number of terminal rows that a line takes: a wide one takes several. */
function rowsOf(line: string): number {
  return Math.max(1, Math.ceil(withoutColours(line).length / (process.stdout.columns || 80)));
}

function lifetimeMs({ expiresAt }: QrCode): number {
  const ms = expiresAt === null ? MAX_CODE_MS : Date.parse(expiresAt) - Date.now();
  return Math.min(MAX_CODE_MS, Math.max(MIN_CODE_MS, ms));
}

async function waitUntilLinked(client: Client, id: string, ms: number, signal: AbortSignal): Promise<boolean> {
  for (const deadline = performance.now() + ms; performance.now() < deadline; ) {
    await sleep(Math.min(POLL_MS, Math.max(1, deadline - performance.now())), signal);
    if ((await client.instances.get(id, { signal })).status !== "CREATED") return true;
  }
  return false;
}

/** Waits a limited time until the instance can place calls, and returns it. */
async function waitUntilOnline(client: Client, id: string, signal: AbortSignal): Promise<InstanceDetails> {
  for (const deadline = performance.now() + ONLINE_TIMEOUT_MS; ; await sleep(POLL_MS, signal)) {
    const instance = await client.instances.get(id, { expand: ["connection"], signal });
    if (instance.status === "ACTIVE" || performance.now() > deadline) return instance;
  }
}

function reportLinked(instance: InstanceDetails, json: boolean): void {
  if (json) {
    printJsonLine({ event: "linked", instance });
    return;
  }
  const { id, status, connection } = instance;
  const phone = connection?.phone ?? "the number";
  const next = status === "ACTIVE" ? `; try: ringport call +12025550100 --text "Hello." --instance ${id}` : "";
  print(`${paint(32, "✓")} ${phone} is linked: ${id} is ${status}${next}`);
}
