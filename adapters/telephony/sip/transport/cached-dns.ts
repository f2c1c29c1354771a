import type { System } from "../../../../src/ports/system.ts";
import { NewestMap } from "../newest-map.ts";
import type { Dns } from "./resolve.ts";

/** An answer counts for so long, whatever the DNS says about it: calls of one second share it, a move is soon followed, ms. */
const KEEP_MS = 30_000;
const MOST_ANSWERS = 512;
/** A question that has not been answered within so long has failed, ms; a later answer serves the next question. */
const PATIENCE_MS = 1_500;

interface Entry {
  readonly until: number;
  readonly answer: Promise<unknown>;
}

/**
 * Asks each question once in a while. That records could not be had is kept as well: names do without them, and nobody
 * waits for a silent resolver twice. A failed question for addresses is asked again.
 */
export function cachedDns(dns: Dns, system: System): Dns {
  const entries = new NewestMap<string, Entry>(MOST_ANSWERS);

  function ask<Value>(key: string, question: () => Promise<Value>, keepsFailure: boolean): Promise<Value> {
    const known = entries.get(key);
    if (known !== undefined && known.until > system.monotonic()) return known.answer as Promise<Value>;
    const asked = question();
    const answer = within(asked, PATIENCE_MS, system, key);
    const entry = { until: system.monotonic() + KEEP_MS, answer };
    entries.set(key, entry);
    answer.catch(() => {}); // thrown to the caller
    asked.then(
      () => entries.set(key, { until: system.monotonic() + KEEP_MS, answer: asked }),
      () => {
        if (!keepsFailure && entries.get(key) === entry) entries.delete(key);
      },
    );
    return answer;
  }

  return {
    naptr: (domain) => ask(`NAPTR ${domain}`, () => dns.naptr(domain), true),
    srv: (name) => ask(`SRV ${name}`, () => dns.srv(name), true),
    addresses: (host) => ask(`address ${host}`, () => dns.addresses(host), false),
  };
}

function within<Value>(answer: Promise<Value>, ms: number, system: System, question: string): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = system.after(ms, () => reject(new Error(`no answer to the question for ${question} within ${ms} ms`)));
    answer.then(resolve, reject).finally(stop);
  });
}
