import type { TLSSocket } from "node:tls";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { TlsOptions } from "../../../adapters/sip-stack/transport/tls.ts";
import type { Hop } from "../../../adapters/sip-stack/transport/transport.ts";
import { certificateAuthority } from "../../support/certificates.ts";
import { never, type ObservedTrunk, observe, options, streamPeer, TestResources } from "./sockets.ts";

const authority = certificateAuthority();
const otherAuthority = certificateAuthority("Another Authority");
const resources = new TestResources();
afterEach(() => resources.close());

function trunk(tls: TlsOptions = {}): ObservedTrunk {
  return resources.add(observe({ tls }));
}

function hopTo(port: number, host = "localhost"): Hop {
  return { kind: "tls", address: "127.0.0.1", port, host };
}

test("a request is sent over TLS to a server whose certificate our CA signed", async () => {
  const peer = resources.add(await streamPeer({ tls: authority.issue() }));
  const { transports } = trunk({ ca: authority.ca });
  const flow = await transports.connect(hopTo(peer.port), never);
  expect(flow).toMatchObject({
    kind: "tls",
    reliable: true,
    isAlive: true,
    remote: { address: "127.0.0.1", port: peer.port },
  });
  flow.send(options());
  await vi.waitFor(() => expect(peer.received()).toContain("OPTIONS sip:them@example.com SIP/2.0\r\n"));
});

test("the certificate may be for an IP address", async () => {
  const peer = resources.add(await streamPeer({ tls: authority.issue({ names: ["127.0.0.1"] }) }));
  const { transports } = trunk({ ca: authority.ca });
  expect(await transports.connect(hopTo(peer.port, "127.0.0.1"), never)).toMatchObject({ isAlive: true });
});

test("tls.servername is the certificate's name", async () => {
  const peer = resources.add(await streamPeer({ tls: authority.issue({ names: ["sip.example.com"] }) }));
  const { transports } = trunk({ ca: authority.ca, servername: "sip.example.com" });
  expect(await transports.connect(hopTo(peer.port), never)).toMatchObject({ isAlive: true });
});

test("a server named by address must have the certificate of its earlier name", async () => {
  const peer = resources.add(await streamPeer({ tls: authority.issue() }));
  const { transports, closed } = trunk({ ca: authority.ca });
  const flow = await transports.connect(hopTo(peer.port), never);
  expect(await transports.connect(hopTo(peer.port, "127.0.0.1"), never)).toBe(flow);
  await vi.waitFor(() => expect(peer.sockets).toHaveLength(1));
  peer.sockets[0]?.end();
  await vi.waitFor(() => expect(closed).toHaveLength(1));
  const secondFlow = await transports.connect(hopTo(peer.port, "127.0.0.1"), never);
  secondFlow.send(options());
  await vi.waitFor(() => expect(peer.received()).toContain("OPTIONS"));
  expect((peer.sockets[1] as TLSSocket & { servername?: string }).servername).toBe("localhost");
});

test.each([
  ["the trunk's name", "localhost", "localhost"],
  ["its own address, if the trunk has no name", "127.0.0.2", "127.0.0.1"],
])("a server named only by address must have the certificate of %s", async (_, serverName, name) => {
  const peer = resources.add(await streamPeer({ tls: authority.issue({ names: [name] }) }));
  const { transports } = resources.add(observe({ tls: { ca: authority.ca }, serverName }));
  const flow = await transports.connect(hopTo(peer.port, "127.0.0.1"), never);
  flow.send(options());
  await vi.waitFor(() => expect(peer.received()).toContain("OPTIONS"));
});

test("a certificate for an address is refused by a trunk with a name", async () => {
  const peer = resources.add(await streamPeer({ tls: authority.issue({ names: ["127.0.0.1"] }) }));
  const { transports } = resources.add(observe({ tls: { ca: authority.ca }, serverName: "localhost" }));
  await expect(transports.connect(hopTo(peer.port, "127.0.0.1"), never)).rejects.toThrow("does not cover localhost");
  expect(peer.received()).toBe("");
});

test("insecure accepts any certificate", async () => {
  const peer = resources.add(
    await streamPeer({ tls: otherAuthority.issue({ names: ["elsewhere.example"], days: [-2, -1] }) }),
  );
  const { transports } = trunk({ insecure: true });
  expect(await transports.connect(hopTo(peer.port), never)).toMatchObject({ isAlive: true });
});

test("a server gets the client certificate it demands", async () => {
  const peer = resources.add(await streamPeer({ tls: { ...authority.issue(), ca: authority.ca } }));
  const { transports } = trunk({ ca: authority.ca, ...authority.issue({ names: ["client.example"] }) });
  const flow = await transports.connect(hopTo(peer.port), never);
  flow.send(options());
  await vi.waitFor(() => expect(peer.received()).toContain("OPTIONS"));
});

describe("a failed TLS connection is reported with its fix", () => {
  test.each([
    ["another authority", otherAuthority.issue(), { ca: authority.ca }, /signed by an unknown authority; set tls\.ca/],
    ["expired", authority.issue({ days: [-3, -1] }), { ca: authority.ca }, /has expired; the server.s operator/],
    [
      "not valid yet",
      authority.issue({ days: [1, 2] }),
      { ca: authority.ca },
      /not valid yet; check this machine.s clock/,
    ],
    [
      "for another name",
      authority.issue({ names: ["other.example"] }),
      { ca: authority.ca },
      /does not cover localhost; set tls\.servername/,
    ],
  ])("a certificate: %s", async (title, certificate, tls, expectedMessage) => {
    const peer = resources.add(await streamPeer({ tls: certificate }));
    const { transports } = trunk(tls);
    await expect(transports.connect(hopTo(peer.port), never)).rejects.toMatchObject({
      fault: "tls",
      isPermanent: title !== "not valid yet",
      message: expect.stringMatching(expectedMessage),
    });
    expect(peer.received()).toBe("");
  });

  test("a server that does not speak TLS", async () => {
    const peer = resources.add(await streamPeer());
    const { transports } = trunk();
    const connecting = transports.connect(hopTo(peer.port), never);
    await vi.waitFor(() => expect(peer.sockets).toHaveLength(1));
    peer.sockets[0]?.write("SIP/2.0 400 Bad Request\r\n\r\n");
    await expect(connecting).rejects.toMatchObject({
      fault: "tls",
      message: expect.stringMatching(/does not speak TLS/),
    });
  });

  test("a server that requires a missing client certificate", async () => {
    const peer = resources.add(await streamPeer({ tls: { ...authority.issue(), ca: authority.ca } }));
    const { transports, closed } = trunk({ ca: authority.ca });
    // With TLS 1.3 the refusal arrives after the handshake has ended on our side.
    const fault = await transports.connect(hopTo(peer.port), never).then(
      async () => {
        await vi.waitFor(() => expect(closed).toHaveLength(1));
        return closed[0]?.fault;
      },
      (fault) => fault,
    );
    expect(fault).toMatchObject({ fault: "tls", message: expect.stringMatching(/set tls\.cert and tls\.key/) });
  });

  test("a missing file", async () => {
    const { transports } = trunk({ ca: "/nowhere/ca.pem" });
    await expect(transports.connect(hopTo(9), never)).rejects.toMatchObject({
      fault: "tls",
      message: "tls.ca names the file /nowhere/ca.pem: there is no such file",
    });
  });
});
