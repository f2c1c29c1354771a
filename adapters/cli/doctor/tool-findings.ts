import type { HttpToolOptions, HttpToolsTuning } from "../../../src/options.ts";
import { httpToolOptions } from "../../embedded/http-tools.ts";
import { connectOnce } from "../../public-http/connect-once.ts";
import { OPERATOR } from "../../public-http/public-connection.ts";
import { HostLookup } from "../../user-hosts/host-lookup.ts";
import { broken, type Finding, reasonOf, works } from "./finding.ts";

const NAME = "agent tools";
const WITHIN_MS = 5_000;

/** The servers of the HTTP tools, one finding each: a connection is opened, and no request is sent, since it could do something. */
export async function findTools(tuning: HttpToolsTuning | undefined): Promise<Finding[]> {
  if (tuning?.tools === undefined) return [];
  let tools: readonly HttpToolOptions[];
  try {
    tools = await httpToolOptions(tuning);
  } catch (error) {
    return [broken(NAME, reasonOf(error), "correct RINGPORT_AGENT_TOOLS")];
  }
  const named = new Map<string, string[]>();
  for (const { url, name } of tools) {
    const { origin } = new URL(url); // placeholders are in path and query alone
    named.set(origin, [...(named.get(origin) ?? []), name]);
  }
  const hosts = new HostLookup();
  return Promise.all([...named].map(([origin, names]) => findServerOf(names, origin, tuning, hosts)));
}

async function findServerOf(
  tools: readonly string[],
  origin: string,
  { allowPrivate }: HttpToolsTuning,
  hosts: HostLookup,
): Promise<Finding> {
  const started = performance.now();
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`no connection within ${WITHIN_MS} ms`)), WITHIN_MS);
  try {
    await connectOnce(new URL(origin), { allowPrivate, hosts }, { user: OPERATOR, signal: late.signal });
    const ms = Math.round(performance.now() - started);
    return works(NAME, `${origin}, of ${tools.join(", ")}: connected within ${ms} ms, and no request was sent`);
  } catch (error) {
    const detail = `${origin}, of ${tools.join(", ")}: no connection: ${reasonOf(error)}`;
    const more = allowPrivate ? "" : "; RINGPORT_AGENT_TOOLS_ALLOW_PRIVATE=1 allows private addresses";
    const fix = `check the url in RINGPORT_AGENT_TOOLS, and the server there${more}`;
    // Calls can be placed without them.
    return { ...broken(NAME, detail, fix), essential: false };
  } finally {
    clearTimeout(timer);
  }
}
