import { createSocket } from "node:dgram";
import { expect, test } from "vitest";
import { PortsExhausted } from "../../../adapters/sip-stack/media/engine.ts";
import { PortPairs } from "../../../adapters/sip-stack/media/port-pairs.ts";
import { createThreadEngine } from "../../../adapters/sip-stack/media/thread-engine.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { End, LOOPBACK } from "./two-ends.ts";

const accept = async (port: number): Promise<number> => port;

test("pairs are even, in range and unique", async () => {
  const ports = new PortPairs(new ManualSystem());
  const takenPorts = [await ports.take([10_001, 10_008], accept), await ports.take([10_001, 10_008], accept)];
  takenPorts.push(await ports.take([10_001, 10_008], accept));
  expect(takenPorts.toSorted()).toEqual([10_002, 10_004, 10_006]);
  await expect(ports.take([10_001, 10_008], accept)).rejects.toThrow(PortsExhausted);
  ports.release(10_004);
  expect(await ports.take([10_001, 10_008], accept)).toBe(10_004);
});

test("the first pair is random", async () => {
  const firstPorts = new Set<number>();
  for (let seed = 1; seed <= 20; seed++)
    firstPorts.add(await new PortPairs(new ManualSystem({ seed })).take([16_384, 32_767], accept));
  expect(firstPorts.size).toBeGreaterThan(15);
});

test("a full range is named in the error, and an ended call frees its pair", async () => {
  const engine = createThreadEngine();
  const otherSocket = createSocket("udp4");
  const port = await new Promise<number>((resolve) => {
    otherSocket.bind(0, LOOPBACK, () => resolve(otherSocket.address().port));
  });
  const evenPort = port - (port % 2);
  const ports = [evenPort, evenPort + 1] as const;
  try {
    if (port === evenPort) {
      await expect(End.open({ ports }, engine)).rejects.toThrow(`from ${evenPort} to ${evenPort + 1}`);
      await new Promise<void>((resolve) => void otherSocket.close(resolve));
    }
    const first = await End.open({ ports }, engine);
    expect(first.session.port).toBe(evenPort);
    await expect(End.open({ ports }, engine)).rejects.toThrow(PortsExhausted);
    await Promise.all([first.session.close(), first.session.close()]);
    expect((await End.open({ ports }, engine)).session.port).toBe(evenPort);
  } finally {
    if (port !== evenPort) otherSocket.close();
    await engine.close();
  }
});

test("an address of another host fails with EADDRNOTAVAIL", async () => {
  const engine = createThreadEngine();
  await expect(End.open({ address: "192.0.2.1" }, engine)).rejects.toThrow(/EADDRNOTAVAIL/);
  await engine.close();
});
