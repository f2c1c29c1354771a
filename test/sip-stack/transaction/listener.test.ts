import { afterEach, expect, test, vi } from "vitest";
import { responseTo } from "../../../adapters/sip-stack/message/sip-message.ts";
import { certificateAuthority } from "../../support/certificates.ts";
import { openTrunk, request, send, type Trunk } from "./trunk.ts";

const trunks: Trunk[] = [];
afterEach(async () => {
  for (const trunkToClose of trunks.splice(0)) await trunkToClose.transactions.close();
});

function openTestTrunk(...args: Parameters<typeof openTrunk>): Trunk {
  const trunk = openTrunk(...args);
  trunks.push(trunk);
  return trunk;
}

test.each(["udp", "tcp", "tls"] as const)(
  "a BYE to our listener over %s gets its response at the sender",
  async (transport) => {
    const authority = certificateAuthority();
    const ourTrunk = openTestTrunk({
      listen: { transport, port: 0, address: "127.0.0.1" },
      tls: authority.issue({ names: ["127.0.0.1"] }),
    });
    await ourTrunk.transports.ready();
    const farTrunk = openTestTrunk({ tls: { ca: authority.ca } });
    const uri = `sip:us@127.0.0.1:${ourTrunk.transports.listenerAddress?.port};transport=${transport}`;
    const bye = send(farTrunk.transactions, request("BYE", uri), uri);
    await vi.waitFor(() => expect(ourTrunk.requests).toHaveLength(1));
    const [incoming] = ourTrunk.requests;
    expect(incoming?.request.headers.list("Via")[0]).toContain(";received=127.0.0.1");
    incoming?.respond(responseTo(incoming.request, 200, "OK"));
    expect(await bye.end).toMatchObject({ status: 200 });
    expect(bye.events).toEqual(["sent", "200"]);
  },
);

test("a CANCEL over real sockets yields 487", async () => {
  const farTrunk = openTestTrunk({ listen: { transport: "tcp", port: 0, address: "127.0.0.1" } });
  await farTrunk.transports.ready();
  const ourTrunk = openTestTrunk();
  const uri = `sip:them@127.0.0.1:${farTrunk.transports.listenerAddress?.port};transport=tcp`;
  const call = send(ourTrunk.transactions, request("INVITE", uri), uri);
  await vi.waitFor(() => expect(farTrunk.requests).toHaveLength(1));
  call.transaction.cancel("SIP;cause=487");
  await vi.waitFor(() => expect(call.events).toContain("100")); // after 200 ms without a response from above
  expect(await call.end).toMatchObject({ status: 487 });
  expect(farTrunk.requests[0]?.hasFinalResponse).toBe(true);
});
