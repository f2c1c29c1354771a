import { memoryUsage } from "node:process";
import { expect, test } from "vitest";
import { whatsapp } from "../../../../adapters/telephony/whatsapp/index.ts";
import type { Line } from "../../../../src/ports/telephony.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";
import { TestLineHost } from "../../../../src/testing/telephony-host.ts";
import { FakeWhatsApp } from "../../../../src/testing/whatsapp/fake-whatsapp.ts";
import { collectGarbage } from "../../../support/collect-garbage.ts";

const NUMBERS = 100;
const MAX_HEAP_BYTES = 200_000;

/** Numbers of one server, over a scripted WhatsApp and on a manual clock. */
class Server {
  readonly system = new ManualSystem();
  readonly network = new FakeWhatsApp(this.system);
  readonly hosts = Array.from({ length: NUMBERS }, () => new TestLineHost());
  #telephony = whatsapp({ client: this.network.client, system: this.system });

  async link(): Promise<void> {
    const lines = await this.open();
    for (const [index, line] of lines.entries()) {
      const linking = line.link?.();
      await this.system.advance(200);
      await linking;
      this.network.scan(this.network.clientOf(`inst_${index}`).shown.qr ?? "", `+55119${10_000_000 + index}`);
    }
    await this.system.advance(2_000);
  }

  /** Opens all lines, in this order. */
  open(order = this.hosts.map((_, index) => index)): Promise<Line[]> {
    const ref = (index: number) => ({ id: `inst_${index}`, userId: "usr_1", name: "Front desk" });
    const { signal } = new AbortController();
    return Promise.all(order.map((index) => this.#telephony.open(ref(index), this.hosts[index]!, signal)));
  }

  async restart(order?: number[]): Promise<Line[]> {
    await Promise.all([this.#telephony.close?.(), this.system.advance(5_000)]);
    this.#telephony = whatsapp({ client: this.network.client, system: this.system });
    this.network.logins.length = 0;
    return this.open(order);
  }
}

async function countOnline(lines: readonly Line[]): Promise<number> {
  const probeResults = await Promise.all(lines.map((line) => line.probe()));
  return probeResults.filter(({ state }) => state === "online").length;
}

/** Times between logins, ms. */
function gapsOf({ logins }: FakeWhatsApp): number[] {
  return logins.slice(1).map(({ atMs }, index) => atMs - (logins[index]?.atMs ?? 0));
}

test("a hundred numbers are online within 20 s after a restart, in the order in which they were opened", async () => {
  const server = new Server();
  await server.link();
  const order = server.hosts.map((_, index) => (index * 37) % NUMBERS);
  const lines = await server.restart(order);
  await server.system.advance(20_000);
  expect(await countOnline(lines)).toBe(NUMBERS);
  expect(server.network.logins.map(({ instanceId }) => instanceId)).toEqual(order.map((index) => `inst_${index}`));
  expect(Math.min(...gapsOf(server.network))).toBeGreaterThanOrEqual(50);
  expect(server.network.logins.every(({ refused }) => refused === undefined)).toBe(true);
});

test("a hundred numbers that lose their connection at once log in one at a time", async () => {
  const server = new Server();
  await server.link();
  const lines = await server.restart();
  await server.system.advance(20_000);
  server.network.logins.length = 0;
  for (const client of server.network.clients.slice(-NUMBERS)) client.dropSocket();
  await server.system.advance(30_000);
  expect(await countOnline(lines)).toBe(NUMBERS);
  expect(server.network.logins).toHaveLength(NUMBERS);
  expect(Math.min(...gapsOf(server.network))).toBeGreaterThanOrEqual(50);
});

test("each linked number needs little memory", async () => {
  const server = new Server();
  await server.link();
  await server.restart();
  collectGarbage();
  const heapBefore = memoryUsage().heapUsed;
  const lines = await server.restart();
  await server.system.advance(20_000);
  expect(await countOnline(lines)).toBe(NUMBERS);
  collectGarbage();
  expect((memoryUsage().heapUsed - heapBefore) / NUMBERS).toBeLessThan(MAX_HEAP_BYTES);
});
