import type { System } from "../../../../src/ports/system.ts";
import type { Dns } from "./resolve.ts";

/** An answer counts for so long, whatever the DNS says about it: calls of one second share it, a move is soon followed, ms. */
const KEEP_MS = 30_000;
const MOST_ANSWERS = 512;
/** A question that has not been answered within so long has failed, ms. */
const PATIENCE_MS = 5_000;

interface Answer {
  readonly until: number;
  readonly answer: Promise<unknown>;
}

/** Asks each question once in a while; failures are not kept. */
export function cachedDns(dns: Dns, system: System): Dns {
  const answers = new Map<string, Answer>();

  function ask<Value>(key: string, question: () => Promise<Value>): Promise<Value> {
    const known = answers.get(key);
    if (known !== undefined && known.until > system.monotonic()) return known.answer as Promise<Value>;
    answers.delete(key);
    if (answers.size >= MOST_ANSWERS) answers.delete(answers.keys().next().value as string);
    const answer = within(question(), PATIENCE_MS, system, key);
    const entry = { until: system.monotonic() + KEEP_MS, answer };
    answers.set(key, entry);
    answer.catch(() => {
      if (answers.get(key) === entry) answers.delete(key);
    });
    return answer;
  }

  return {
    naptr: (domain) => ask(`NAPTR ${domain}`, () => dns.naptr(domain)),
    srv: (name) => ask(`SRV ${name}`, () => dns.srv(name)),
    addresses: (host) => ask(`address ${host}`, () => dns.addresses(host)),
  };
}

function within<Value>(answer: Promise<Value>, ms: number, system: System, question: string): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = system.after(ms, () => reject(new Error(`no answer to the question for ${question} within ${ms} ms`)));
    answer.then(resolve, reject).finally(stop);
  });
}
