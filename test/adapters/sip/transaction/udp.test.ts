import { afterEach, expect, test } from "vitest";
import { TransportError } from "../../../../adapters/telephony/sip/transport/transport.ts";
import { type FarEnd, startFarEnd } from "../../../support/sip/far-end.ts";
import { openTrunk, request, send, type Trunk } from "./trunk.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function farEnd(...options: Parameters<typeof startFarEnd>): Promise<FarEnd> {
  const end = await startFarEnd(...options);
  open.push(end);
  return end;
}

function trunk(...options: Parameters<typeof openTrunk>): Trunk {
  const opened = openTrunk(...options);
  open.push(opened.transactions);
  return opened;
}

test("a request over UDP has its answer, and the way back is known", async () => {
  const { uri } = await farEnd();
  const { transactions } = trunk();
  const sent = send(transactions, request("OPTIONS", uri), uri);
  const response = await sent.end;
  expect(response).toMatchObject({ kind: "response", status: 200 });
  expect(sent.told).toEqual(["sent", "200"]);
  const [flow] = sent.flows;
  expect(flow?.local.address).toBe("127.0.0.1");
  expect(sent.transaction.request.headers.get("Contact")).toBe(`<sip:us@127.0.0.1:${flow?.local.port}>`);
});

// Deno connects no UDP socket, so it hears of no ICMP: there the timers decide.
test.skipIf("Deno" in globalThis)("a port where nobody listens is told at once", async () => {
  const gone = await startFarEnd();
  await gone.close();
  const { transactions } = trunk();
  const fault = await send(transactions, request("OPTIONS", gone.uri), gone.uri).end;
  expect(fault).toBeInstanceOf(TransportError);
  expect(fault).toMatchObject({ fault: "refused" });
});
