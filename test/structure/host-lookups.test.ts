import { describe, expect, test } from "vitest";
import { hostLookupsOf } from "./host-lookups.ts";
import { sourceFiles } from "./source-files.ts";

/**
 * Files and folders that may look up a host with `getaddrinfo`, whose few threads serve the whole process, each with
 * the host's owner. Hosts of users and callees, and hosts that their servers name, are looked up only by
 * `adapters/untrusted-hosts`.
 */
const PERMITTED: ReadonlyMap<string, string> = new Map([
  ["adapters/cli/", "the person who types a command, and its server"],
  ["adapters/console/app/", "runs in a browser"],
  ["adapters/console/server/page-files.ts", "files of the package"],
  [
    "adapters/local-models/installation/http-get.ts",
    "the person who types a command: releases of models, and their mirrors",
  ],
  ["adapters/provider-http/engine-client.ts", "the operator's engines"],
  ["adapters/provider-http/engine-socket.ts", "the operator's engines"],
  ["adapters/storage/postgres/connect-postgres.ts", "the operator's database"],
  ["adapters/sip-stack/media/media-address.ts", "the operator's publicAddress"],
  ["adapters/sip-stack/media/bun-udp.ts", "none: it is given addresses, as MediaTarget checks"],
  ["adapters/sip-stack/transport/dns.ts", "servers of the operator's trunks"],
  ["adapters/untrusted-hosts/dns-queries.ts", "users and callees: by c-ares"],
  ["src/client/", "the program that uses the client"],
]);

describe("host names", () => {
  const lookups = sourceFiles().flatMap((file) => hostLookupsOf(file).map((lookup) => `${file.path}: ${lookup}`));
  const permissionFor = (lookup: string) => [...PERMITTED.keys()].find((path) => lookup.startsWith(path));

  test("of users and callees are never looked up by getaddrinfo", () => {
    expect(lookups.filter((lookup) => permissionFor(lookup) === undefined)).toEqual([]);
  });

  test("are looked up by every permitted file", () => {
    expect([...PERMITTED.keys()].filter((path) => !lookups.some((lookup) => lookup.startsWith(path)))).toEqual([]);
  });
});

describe("the rule", () => {
  const count = (text: string): number => hostLookupsOf({ path: "adapters/x.ts", text }).length;

  test.each([
    'import { lookup } from "node:dns";\nlookup(host, done);',
    'import dns from "node:dns/promises";\nawait dns.lookup(host);',
    'import { promises as dns } from "node:dns";\nnew dns.Resolver();',
    'import { connect as open } from "node:tls";\nopen({ host, port });',
    'import * as net from "node:net";\nnet.connect(80, host);',
    'import { request } from "node:https";\nrequest(url);',
    'import { createSocket } from "node:dgram";\ncreateSocket("udp4");',
    'import { WebSocket } from "ws";\nnew WebSocket(url);',
    'const { default: pg } = await import("pg");',
    "await fetch(webhook.url);",
    "const send = globalThis.fetch;",
    "await Deno.connect({ hostname, port });",
    "new WebSocket(url);",
  ])("finds %s", (text) => {
    expect(count(text)).toBe(1);
  });

  test.each([
    'import { isIP, type Socket } from "node:net";\nisIP(host);',
    'import { createServer } from "node:http";\ncreateServer().listen(80);',
    'import { request } from "node:https";\nrequest({ ...publicConnection(url, options, owner) });',
    'import { createSocket } from "node:dgram";\ncreateSocket({ type: "udp4", lookup: addressOnly });',
    'import type { Server } from "node:http";',
    "await ringport.fetch(request);",
    "Deno.upgradeWebSocket(request);",
  ])("permits %s", (text) => {
    expect(count(text)).toBe(0);
  });
});
