import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseVia, writeVia } from "../../../adapters/sip-stack/message/header-values.ts";
import { fuzz } from "../../support/fuzz.ts";
import { host, port, token } from "./arbitraries.ts";

describe("a Via element", () => {
  test("is read with its sent-by and its parameters", () => {
    expect(parseVia("SIP/2.0/udp Host.Example:5062;rport=1024;received=192.0.2.7;branch=z9hG4bK1;alias")).toEqual({
      transport: "UDP",
      host: "host.example",
      port: 5062,
      params: new Map([
        ["rport", "1024"],
        ["received", "192.0.2.7"],
        ["branch", "z9hG4bK1"],
        ["alias", ""],
      ]),
    });
    expect(parseVia("SIP/2.0/TLS [2001:db8::9]:5061;received=2001:db8::a;rport")).toMatchObject({
      host: "2001:db8::9",
      port: 5061,
      params: new Map([
        ["received", "2001:db8::a"],
        ["rport", ""],
      ]),
    });
    expect(parseVia("SIP / 2.0 / TCP  host : 5060 ; branch = x")).toMatchObject({ host: "host", port: 5060 });
  });

  test.each([
    "",
    "SIP/2.0/UDP",
    "SIP/2.0 host",
    "UDP host",
    "SIP/2.0/UDP host:0",
    "SIP/2.0/UDP host:99999",
    "SIP/2.0/UDP ho st",
    "SIP/2.0/UDP host;;branch=x",
    "SIP/2.0/UDP ;branch=x",
    "SIP/2.0/U DP host",
    "HTTP/1.1/TCP host",
  ])("is not read from %j", (text) => {
    expect(parseVia(text)).toBeUndefined();
  });

  fuzz(
    "is read as it was written",
    fc.property(
      fc.record({
        transport: token.map((name) => name.toUpperCase()),
        host,
        port,
        params: fc
          .array(
            fc.tuple(
              token.map((name) => name.toLowerCase()),
              fc.string({ maxLength: 8 }),
            ),
            { maxLength: 3 },
          )
          .map((pairs) => new Map(pairs)),
      }),
      (via) => {
        expect(parseVia(writeVia(via))).toEqual(via);
      },
    ),
  );
});
