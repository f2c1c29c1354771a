import { createServer } from "node:net";
import { createClient } from "../../../src/client/index.ts";
import { DEFAULT_HOSTNAME, DEFAULT_PORT, localUrl } from "../../server/listening.ts";
import { startCommand } from "../connection/unreachable.ts";
import type { ServerSettings } from "../settings/read-settings.ts";
import { broken, type Finding, missing, reasonOf, works } from "./finding.ts";

const TIMEOUT_MS = 3_000;
/** Maximum difference between the clocks for timestamps and expiry times to make sense, ms. */
const MAX_CLOCK_ERROR_MS = 30_000;
/** Earliest plausible clock time: this program did not exist before 2026-01-01. */
const EARLIEST_CLOCK_MS = Date.UTC(2026, 0);

/** Checks if a server could listen here; reports the program that is using the port, if any. */
export async function findPort({
  port = DEFAULT_PORT,
  hostname = DEFAULT_HOSTNAME,
  options,
}: ServerSettings): Promise<Finding[]> {
  const place = `port ${port} on ${hostname}`;
  const code = await listeningError(port, hostname);
  if (code === undefined) return [works("port", port === 0 ? "a free one is picked" : `${place} is free`)];
  if (code !== "EADDRINUSE")
    return [broken("port", `cannot listen on ${place} (${code})`, "choose another one with PORT and HOST")];
  const url = localUrl(hostname, port) + (options.basePath ?? "");
  if (await health(url)) return [works("port", `a Ringport server responds at ${url}`)];
  return [broken("port", `${place} is used by another program`, "stop it, or choose another one with PORT")];
}

function listeningError(port: number, hostname: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, hostname.replace(/^\[|\]$/g, ""), () => server.close(() => resolve(undefined)));
  });
}

/** Checks the server that commands send requests to, the token, and the server's clock. */
export async function findServer(url: string, token: string | undefined): Promise<Finding[]> {
  const response = await health(url).catch(() => undefined);
  if (!response)
    return [
      missing("server", `no Ringport responds at ${url}`, `${startCommand()}, or set RINGPORT_URL`),
      localClock(),
    ];
  return [works("server", `responds at ${url}`), await findToken(url, token), clock(response.headers.get("date"))];
}

/** The response of a Ringport server; undefined if there is no response, or another program responds. */
async function health(url: string): Promise<Response | undefined> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const body = (await response.json()) as { status?: unknown } | null;
    return response.status === 200 && body?.status === "ok" ? response : undefined;
  } catch {
    return undefined;
  }
}

async function findToken(url: string, token: string | undefined): Promise<Finding> {
  const fix = "ringport token create --user NAME creates one; keep it in RINGPORT_TOKEN";
  if (token === undefined) return missing("token", "is not set", fix);
  try {
    const client = createClient({ url, token, retries: 0, timeoutMs: TIMEOUT_MS });
    const { items } = await client.instances.page();
    const active = items.filter(({ status }) => status === "ACTIVE").length;
    return works("token", `is valid; ${items.length} instances, ${active} of them can call`);
  } catch (error) {
    return broken("token", reasonOf(error), fix);
  }
}

function localClock(): Finding {
  const now = new Date();
  if (now.getTime() >= EARLIEST_CLOCK_MS) return works("clock", now.toISOString());
  return broken("clock", `it shows ${now.toISOString()}`, "set the clock of this machine");
}

function clock(date: string | null): Finding {
  const local = localClock();
  const serverTime = date === null ? Number.NaN : Date.parse(date);
  if (local.state !== "works" || Number.isNaN(serverTime)) return local;
  const differenceMs = Math.abs(Date.now() - serverTime);
  if (differenceMs <= MAX_CLOCK_ERROR_MS) return works("clock", `${local.detail}, the same as the server's`);
  return {
    ...broken("clock", `the server's clock is ${Math.round(differenceMs / 1000)} s off`, "set both by NTP"),
    essential: false,
  };
}
