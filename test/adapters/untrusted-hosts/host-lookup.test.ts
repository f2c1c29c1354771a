import { describe, expect, test } from "vitest";
import { hostAddress } from "../../../adapters/untrusted-hosts/host-address.ts";
import { HostLookup } from "../../../adapters/untrusted-hosts/host-lookup.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";

const ADDRESSES = [hostAddress("192.0.2.1")];

/** A lookup whose name servers never respond for names that start with `silent`. */
function startLookup() {
  const system = new ManualSystem();
  const queriedNames: string[] = [];
  let runningCount = 0;
  let maxRunning = 0;
  const query = (name: string, signal: AbortSignal) =>
    new Promise<never[]>((resolve, reject) => {
      queriedNames.push(name);
      maxRunning = Math.max(maxRunning, ++runningCount);
      const cancel = () => {
        runningCount--;
        reject(Object.assign(new Error("cancelled"), { code: "ECANCELLED" }));
      };
      signal.addEventListener("abort", cancel);
      if (name.startsWith("silent")) return;
      runningCount--;
      signal.removeEventListener("abort", cancel);
      if (name.startsWith("broken")) reject(Object.assign(new Error("servfail"), { code: "ESERVFAIL" }));
      else resolve((name.startsWith("missing") ? [] : ADDRESSES) as never[]);
    });
  const queries = { addresses: query, srv: query, naptr: query };
  const hosts = new HostLookup({ system, queries, local: async (name) => (name === "pbx" ? [] : undefined) });
  return { system, hosts, queriedNames, runningCount: () => runningCount, maxRunning: () => maxRunning };
}

describe("a lookup", () => {
  test("is one query for all concurrent callers of a host, and is then cached", async () => {
    const { system, hosts, queriedNames } = startLookup();
    const names = ["hooks.example.com", "HOOKS.example.com", "hooks.example.com."];
    const results = await Promise.all(names.map((name, index) => hosts.addresses(name, `usr_${index}`)));
    expect(results).toEqual([ADDRESSES, ADDRESSES, ADDRESSES]);
    await hosts.addresses("hooks.example.com", "usr_1");
    expect(queriedNames).toEqual(["hooks.example.com"]);
    await system.advance(30_000);
    await hosts.addresses("hooks.example.com", "usr_1");
    expect(queriedNames).toHaveLength(2);
  });

  test("queries no name server for an address, a local name or an impossible name", async () => {
    const { hosts, queriedNames } = startLookup();
    expect(await hosts.addresses("192.0.2.9", "usr_1")).toEqual([hostAddress("192.0.2.9")]);
    expect(await hosts.addresses("PBX", "usr_1")).toEqual([]);
    expect(await hosts.addresses("", "usr_1")).toEqual([]);
    expect(await hosts.addresses(`${"a.".repeat(150)}example.com`, "usr_1")).toEqual([]);
    expect(queriedNames).toEqual([]);
  });

  test("is not repeated immediately after it fails, whatever the failure", async () => {
    const { system, hosts, queriedNames } = startLookup();
    for (const _ of [1, 2]) {
      expect(await hosts.addresses("missing.example.com", "usr_1")).toEqual([]);
      await expect(hosts.addresses("broken.example.com", "usr_1")).rejects.toMatchObject({ code: "ESERVFAIL" });
    }
    const silentLookup = hosts.addresses("silent.example.com", "usr_1");
    silentLookup.catch(() => {});
    await system.advance(5_000);
    await expect(silentLookup).rejects.toThrow("its name servers do not respond");
    await expect(hosts.addresses("silent.example.com", "usr_2")).rejects.toMatchObject({ code: "ETIMEOUT" });
    expect(queriedNames).toEqual(["missing.example.com", "broken.example.com", "silent.example.com"]);
    await system.advance(10_000);
    await expect(hosts.addresses("broken.example.com", "usr_1")).rejects.toThrow();
    expect(queriedNames).toHaveLength(4);
  });

  test("is cancelled when no caller waits for it, and then repeated", async () => {
    const { hosts, queriedNames, runningCount } = startLookup();
    const [firstScope, secondScope] = [new AbortController(), new AbortController()];
    const lookups = [
      hosts.addresses("silent.example.com", "usr_1", firstScope.signal),
      hosts.addresses("silent.example.com", "usr_2", secondScope.signal),
    ];
    await expect.poll(() => queriedNames.length).toBe(1);
    firstScope.abort(new Error("the first has ended"));
    await expect(lookups[0]).rejects.toThrow("the first has ended");
    expect(runningCount()).toBe(1);
    secondScope.abort(new Error("the second has ended"));
    await expect(lookups[1]).rejects.toThrow("the second has ended");
    expect(runningCount()).toBe(0);
    hosts.addresses("silent.example.com", "usr_1").catch(() => {});
    await expect.poll(() => queriedNames.length).toBe(2);
  });
});

describe("a user with silent name servers", () => {
  test("has eight queries at a time, and at most 128 waiting", async () => {
    const { system, hosts, queriedNames, maxRunning } = startLookup();
    const names = Array.from({ length: 137 }, (_, index) => `silent${index}.example.com`);
    const lookups = names.map((name) => hosts.addresses(name, "usr_1"));
    const allSettled = Promise.allSettled(lookups);
    await expect(lookups[136]).rejects.toThrow("too many lookups are waiting (at most 128)");
    expect(queriedNames).toEqual(names.slice(0, 8));
    for (let rounds = 0; rounds < 17; rounds++) await system.advance(5_000);
    const results = await allSettled;
    expect(results.every(({ status }) => status === "rejected")).toBe(true);
    expect(queriedNames).toEqual(names.slice(0, 136));
    expect(maxRunning()).toBe(8);
  });

  test("never delays another user, not even for the same host", async () => {
    const { hosts } = startLookup();
    const names = Array.from({ length: 20 }, (_, index) => `silent${index}.example.com`);
    for (const name of [...names, "hooks.example.com"]) hosts.addresses(name, "usr_1").catch(() => {});
    // The clock is stopped, so no timeout passes.
    expect(await hosts.addresses("hooks.example.com", "usr_2")).toEqual(ADDRESSES);
  });

  test("takes turns with other users, so that a new user is next", async () => {
    const { system, hosts, queriedNames, maxRunning } = startLookup();
    for (let user = 0; user < 40; user++)
      for (let name = 0; name < 20; name++)
        hosts.addresses(`silent${user}-${name}.example.com`, `usr_${user}`).catch(() => {});
    await expect.poll(() => queriedNames.length).toBe(256);
    const addresses = hosts.addresses("hooks.example.com", "usr_new");
    await system.advance(5_000);
    expect(await addresses).toEqual(ADDRESSES);
    expect(maxRunning()).toBe(256);
  });
});
