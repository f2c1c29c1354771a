import { expect, test } from "vitest";
import { isPrivate } from "../../../adapters/sip-stack/transport/addresses.ts";
import { OwnNames } from "../../../adapters/sip-stack/transport/own-addresses.ts";
import type { Flow, TransportKind } from "../../../adapters/sip-stack/transport/transport.ts";

function flow(kind: TransportKind, address: string): Flow {
  return {
    kind,
    local: { address, port: 40_000 },
    remote: { address: "198.51.100.1", port: 5060 },
    isAlive: true,
    reliable: kind !== "udp",
    send: () => true,
    hold: () => () => {},
  };
}

test("a public socket's reported private address is ignored", () => {
  const names = new OwnNames(undefined, () => undefined);
  const publicFlow = flow("udp", "203.0.113.1");
  names.learn(publicFlow, { address: "10.0.0.7", port: 5060 });
  expect(names.nameFor(publicFlow)).toBe("203.0.113.1:40000");
  const natFlow = flow("udp", "192.168.1.2");
  names.learn(natFlow, { address: "10.0.0.7", port: 5060 });
  expect(names.nameFor(natFlow)).toBe("10.0.0.7:5060");
});

test("a connection uses the port of our listener", () => {
  const names = new OwnNames(undefined, (kind) => (kind === "tls" ? 5061 : undefined));
  for (const kind of ["tls", "tcp"] as const)
    names.learn(flow(kind, "10.0.0.1"), { address: "203.0.113.1", port: 4711 });
  expect(names.nameFor(flow("tls", "10.0.0.1"))).toBe("203.0.113.1:5061");
  expect(names.nameFor(flow("tcp", "10.0.0.1"))).toBe("203.0.113.1:4711");
});

test("another connection to a peer uses the learned address with its own port", () => {
  const names = new OwnNames(undefined, () => undefined);
  const first = flow("tcp", "10.0.0.1");
  const second = { ...first, local: { address: "10.0.0.1", port: 40_001 } };
  names.learn(first, { address: "203.0.113.1", port: 4711 });
  expect(names.nameFor(second)).toBe("203.0.113.1:40001");
  names.learn(first, { address: "10.0.0.1", port: 40_000 }); // the NAT has been removed
  expect(names.nameFor(second)).toBe("10.0.0.1:40001");
});

test("behind a NAT, the address from the trunk's server applies to outside peers", () => {
  const names = new OwnNames(undefined, () => undefined);
  const natFlow = flow("udp", "192.168.1.2");
  const flowTo = (address: string, local = "192.168.1.2"): Flow => ({
    ...natFlow,
    local: { address: local, port: 40_000 },
    remote: { address, port: 5060 },
  });
  names.learn(flowTo("198.51.100.1"), { address: "203.0.113.7", port: 4711 }, true);
  expect(names.nameFor(flowTo("198.51.100.2"))).toBe("203.0.113.7:40000");
  expect(names.nameFor(flowTo("10.0.0.5"))).toBe("192.168.1.2:40000");
  expect(names.nameFor(flowTo("198.51.100.2", "10.8.0.2"))).toBe("10.8.0.2:40000"); // another interface
  expect(names.nameFor(flowTo("198.51.100.2", "203.0.113.9"))).toBe("203.0.113.9:40000");
  expect(new OwnNames("192.0.2.9", () => undefined).nameFor(flowTo("198.51.100.2"))).toBe("192.0.2.9:40000");
});

test.each([
  "10.1.2.3",
  "172.31.0.1",
  "192.168.0.1",
  "100.64.0.1",
  "127.0.0.1",
  "169.254.1.1",
  "::1",
  "fd00::1",
  "fe80::1%eth0",
])("the address %s is private", (address) => expect(isPrivate(address)).toBe(true));

test.each(["203.0.113.1", "172.32.0.1", "100.128.0.1", "2001:db8::1"])("the address %s is not private", (address) =>
  expect(isPrivate(address)).toBe(false),
);

test("an address reported by a callee's server holds for that server only", () => {
  const names = new OwnNames(undefined, () => undefined);
  const natFlow = flow("udp", "192.168.1.2");
  const flowTo = (address: string): Flow => ({ ...natFlow, remote: { address, port: 5060 } });
  names.learn(flowTo("198.51.100.66"), { address: "203.0.113.66", port: 5060 }, false);
  expect(names.nameFor(flowTo("198.51.100.66"))).toBe("203.0.113.66:5060");
  expect(names.nameFor(flowTo("198.51.100.1"))).toBe("192.168.1.2:40000");
});
