import { expect, test } from "vitest";
import { whatsapp } from "../../../../adapters/telephony/whatsapp/index.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";
import { TestLineHost } from "../../../../src/testing/telephony-host.ts";
import { FakeWhatsApp } from "../../../../src/testing/whatsapp/fake-whatsapp.ts";

/** The outcome of opening a line with these stored credentials. */
async function openLine(credentials: string) {
  const system = new ManualSystem();
  const host = new TestLineHost(new TextEncoder().encode(credentials));
  const network = whatsapp({ client: new FakeWhatsApp(system).client, system });
  const instance = { id: "inst_1", userId: "usr_1", name: "Front desk" };
  const line = await network.open(instance, host, new AbortController().signal).catch((error: Error) => error);
  await system.advance(1_000);
  return { line, reports: host.reports.types };
}

test("another server version's credentials stay stored, and the line does not open", async () => {
  const { line, reports } = await openLine('{"kind":"whatsapp","version":2,"keys":"elsewhere"}');
  expect(line).toMatchObject({ message: expect.stringContaining("is stored in format 2") });
  expect(reports).toEqual([]);
});

test("another network's credentials unlink the number", async () => {
  const { line, reports } = await openLine('{"kind":"sip","version":1}');
  expect(line).not.toBeInstanceOf(Error);
  expect(reports).toEqual(["unlinked"]);
});
