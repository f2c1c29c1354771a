import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { whatsapp } from "../../../../adapters/telephony/whatsapp/index.ts";
import type { LegEvent, Line } from "../../../../src/ports/telephony.ts";
import type { FakeStanza } from "../../../../src/testing/index.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";
import { TestLineHost } from "../../../../src/testing/telephony-host.ts";
import { blocksOf, fileOf } from "../../../docs/pages.ts";
import { advanceUntilDone } from "../../../support/during.ts";
import { runZapoModule, type ZapoModule } from "../../../support/whatsapp/zapo-module.ts";

const OWNER = "+5511912345678";
const CONTACT = "+12025550101";
const PHONE_CONTACT = "+12025550102";
const STRANGER = "+12025550103";

const example = (path: string) => readFileSync(fileOf(`examples/whatsapp/${path}`), "utf8");
const documentedClient = () => {
  const block = blocksOf("docs/whatsapp.md").find(({ text }) => text.includes("new WaClient("));
  if (block === undefined) throw new Error("docs/whatsapp.md shows no client");
  return block.text;
};

/** A number linked with a module's client; the phone's history has two contacts. */
async function linkNumber(source: string) {
  const system = new ManualSystem({ seed: 1 });
  const module: ZapoModule = runZapoModule(source, system, example);
  const host = new TestLineHost();
  const telephony = whatsapp({ client: module.factory, system });
  const ref = { id: "inst_1", userId: "usr_1", name: "Front desk" };
  const line: Line = await telephony.open(ref, host, new AbortController().signal);
  await advanceUntilDone(system, Promise.resolve(line.link?.()));
  const { network } = module;
  network.number(CONTACT, { inHistory: "lid" });
  network.number(PHONE_CONTACT, { inHistory: "phone" });
  network.scan(network.clientOf().shown.qr ?? "", OWNER);
  await system.advance(1_000);
  return { system, network, line };
}

/** Tags of a call offer's parts, as received by the network. */
async function offerTags(
  { system, network, line }: Awaited<ReturnType<typeof linkNumber>>,
  to: string,
): Promise<string[]> {
  const options = { callId: "call_1", ringTimeoutMs: 60_000 };
  const leg = await advanceUntilDone(system, line.dial(to, options, new AbortController().signal));
  const events: LegEvent[] = [];
  void (async () => {
    for await (const event of leg.events) events.push(event);
  })();
  await advanceUntilDone(system, leg.hangUp());
  const [offer] = network.call().offer.content as readonly [FakeStanza];
  return (offer.content as readonly FakeStanza[]).map(({ tag }) => tag);
}

describe.each([
  ["the example", () => example("zapo.ts")],
  ["docs/whatsapp.md", documentedClient],
])("the client of %s", (_, source) => {
  test("offers a call to a contact with the token that came with the history", async () => {
    const scene = await linkNumber(source());
    expect(await offerTags(scene, CONTACT)).toContain("privacy");
  });

  test("offers a call with a token stored under the contact's number", async () => {
    const scene = await linkNumber(source());
    expect(await offerTags(scene, PHONE_CONTACT)).toContain("privacy");
  });

  test("offers a call to a stranger without a token, and with one once they have sent a message", async () => {
    const scene = await linkNumber(source());
    expect(await offerTags(scene, STRANGER)).not.toContain("privacy");
    scene.network.write(STRANGER, OWNER);
    await scene.system.advance(1_000);
    expect(await offerTags(scene, STRANGER)).toContain("privacy");
  });
});
