import { expect, test } from "vitest";
import { sip } from "../../../../adapters/telephony/sip/index.ts";

const SERVER = "sip:sip.example.com";

test.each([
  [{}, Infinity],
  [{ maxCalls: 30 }, 30],
  [{ lines: 4 }, 4],
  [{ lines: 4, maxCalls: 3 }, 3],
])("a trunk with %j carries %s calls of one instance", (limits, lines) => {
  const [network] = sip({ trunks: [{ name: "acme", server: SERVER, ...limits }] });
  expect(network?.capabilities.lines).toBe(lines);
});

test("a route carries as many calls as its trunks do together", () => {
  const trunks = [
    { name: "acme", server: SERVER, maxCalls: 30 },
    { name: "other", server: SERVER, lines: 2, maxCalls: 10 },
  ];
  const routes = [{ name: "world", trunks: [{ trunk: "acme" }, { trunk: "other" }] }];
  expect(sip({ trunks, routes })[0]?.capabilities.lines).toBe(32);
});

test("an account carries as many calls as the operator allows", () => {
  const lines = (accounts: Parameters<typeof sip>[0]["accounts"]) =>
    sip({ trunks: [], accounts }).map(({ capabilities }) => capabilities.lines);
  expect(lines(true)).toEqual([Infinity]);
  expect(lines({ defaults: { lines: 2 } })).toEqual([2]);
});
