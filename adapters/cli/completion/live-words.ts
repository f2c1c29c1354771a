import process from "node:process";
import type { Completion } from "../command.ts";
import { TOKEN_SETTING, URL_SETTING } from "../connection/connection-settings.ts";

/** How long a completion may take, ms. */
const PATIENCE_MS = 1_500;
const MOST_CALLS = 50;

/** Ids that the server knows, each followed by a tab and its meaning; nothing if the server does not answer. */
export async function liveWords(kind: Exclude<Completion, "file">, typed: readonly string[]): Promise<string[]> {
  const url = given(typed, "--url") ?? process.env[URL_SETTING.env] ?? URL_SETTING.fallback;
  const token = given(typed, "--token") ?? process.env[TOKEN_SETTING.env];
  if (!token) return [];
  try {
    const { createClient } = await import("../../../src/client/index.ts");
    const client = createClient({ url, token, retries: 0, timeoutMs: PATIENCE_MS });
    if (kind === "voice") return (await client.voices()).map(({ id, engine, name }) => `${id}\t${engine} ${name}`);
    if (kind === "instance") {
      const { items } = await client.instances.page();
      return items.map(({ id, name, status }) => `${id}\t${name}, ${status}`);
    }
    const { items } = await client.calls.page({ limit: MOST_CALLS });
    return items.map(({ id, target_phone, status }) => `${id}\t${target_phone}, ${status}`);
  } catch {
    return [];
  }
}

function given(typed: readonly string[], flag: string): string | undefined {
  const at = typed.indexOf(flag);
  if (at >= 0) return typed[at + 1];
  return typed.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
}
