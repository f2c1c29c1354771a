import process from "node:process";
import { type Client, createClient } from "../../../src/client/index.ts";
import type { ParsedLine } from "../command.ts";
import { settingValue } from "../settings/read-settings.ts";
import { UsageError } from "../usage-error.ts";
import { TOKEN_SETTING, URL_SETTING } from "./connection-settings.ts";
import { unreachableText } from "./unreachable.ts";

/** A server that responds. */
interface Connection {
  readonly client: Client;
  readonly url: string;
}

/** Timeout for the first response, ms; longer than any running server takes. */
const RESPONSE_TIMEOUT_MS = 10_000;

/** The address of the server. */
export function urlOf(line: ParsedLine): string {
  return (settingValue(URL_SETTING, line, process.env) as string | undefined) ?? URL_SETTING.fallback;
}

/** The access token, if there is one. */
export function tokenOf(line: ParsedLine): string | undefined {
  return settingValue(TOKEN_SETTING, line, process.env) as string | undefined;
}

/**
 * A client for the server named by the flags or the environment.
 * @throws {UsageError} the token is missing, or the server cannot be reached
 */
export async function connect(line: ParsedLine): Promise<Connection> {
  const url = urlOf(line);
  const token = tokenOf(line);
  if (token === undefined)
    throw new UsageError(
      "a token is needed: set RINGPORT_TOKEN; to create one, run ringport token create --user NAME on the server's machine",
    );
  await assertReachable(url);
  return { client: createClient({ url, token }), url };
}

/** Sends one request, so that an unreachable server is reported immediately. */
async function assertReachable(url: string): Promise<void> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS) });
    await response.body?.cancel();
  } catch (cause) {
    throw new UsageError(unreachableText(url, cause), { cause });
  }
}
