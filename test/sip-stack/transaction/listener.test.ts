import { afterEach, expect, test, vi } from "vitest";
import { responseTo } from "../../../adapters/sip-stack/message/message.ts";
import { certificateAuthority } from "../../support/certificates.ts";
import { openTrunk, request, send, type Trunk } from "./trunk.ts";

const open: Trunk[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.transactions.close();
});

function trunk(...args: Parameters<typeof openTrunk>): Trunk {
  const opened = openTrunk(...args);
  open.push(opened);
  return opened;
}

test.each(["udp", "tcp", "tls"] as const)(
  "a BYE to our listener over %s gets its response at the sender",
  async (transport) => {
    const authority = certificateAuthority();
    const ours = trunk({
      listen: { transport, port: 0, address: "127.0.0.1" },
      tls: authority.issue({ names: ["127.0.0.1"] }),
    });
    await ours.transports.ready();
    const far = trunk({ tls: { ca: authority.ca } });
    const uri = `sip:us@127.0.0.1:${ours.transports.listening?.port};transport=${transport}`;
    const bye = send(far.transactions, request("BYE", uri), uri);
    await vi.waitFor(() => expect(ours.requests).toHaveLength(1));
    const [came] = ours.requests;
    expect(came?.request.headers.list("Via")[0]).toContain(";received=127.0.0.1");
    came?.respond(responseTo(came.request, 200, "OK"));
    expect(await bye.end).toMatchObject({ status: 200 });
    expect(bye.told).toEqual(["sent", "200"]);
  },
);

test("a CANCEL over real sockets yields 487", async () => {
  const far = trunk({ listen: { transport: "tcp", port: 0, address: "127.0.0.1" } });
  await far.transports.ready();
  const ours = trunk();
  const uri = `sip:them@127.0.0.1:${far.transports.listening?.port};transport=tcp`;
  const call = send(ours.transactions, request("INVITE", uri), uri);
  await vi.waitFor(() => expect(far.requests).toHaveLength(1));
  call.transaction.cancel("SIP;cause=487");
  await vi.waitFor(() => expect(call.told).toContain("100")); // after 200 ms without a response from above
  expect(await call.end).toMatchObject({ status: 487 });
  expect(far.requests[0]?.done).toBe(true);
});
