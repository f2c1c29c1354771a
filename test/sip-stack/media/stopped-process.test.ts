import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const SENDER = fileURLToPath(new URL("./stopped-sender.ts", import.meta.url));
const DEADLINE_MS = 2_000;

/** Starts a process that sends audio to us until its deadline; resolves once it sends. */
async function startSender(place: string, deadlineMs: number) {
  const socket = createSocket("udp4").bind(0, "127.0.0.1");
  onTestFinished(() => void socket.close());
  await once(socket, "listening");
  let packets = 0;
  socket.on("message", (bytes) => {
    if (bytes[1]! < 200 || bytes[1]! > 204) packets++; // no RTCP
  });
  const child = spawn(process.execPath, [SENDER, String(socket.address().port), place, String(deadlineMs)]);
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  while (packets < 5) await pause(20);
  return { child, packets: () => packets, output: () => output };
}

for (const place of ["thread", "worker"])
  test(`in a ${place}, a stopped process sends no audio after its deadline`, async () => {
    const { child, packets, output } = await startSender(place, DEADLINE_MS);
    process.kill(child.pid!, "SIGSTOP");
    await pause(100); // packets in flight
    const before = packets();
    await pause(DEADLINE_MS);
    process.kill(child.pid!, "SIGCONT");
    await pause(1_000);
    expect(packets()).toBe(before);
    expect(child.exitCode).toBeNull();
    expect(output()).toBe(""); // no call has been lost: its thread was not stuck
  });

test("a process that was stopped for less than its deadline continues sending", async () => {
  const { child, packets } = await startSender("thread", 60_000);
  process.kill(child.pid!, "SIGSTOP");
  await pause(200);
  const before = packets();
  process.kill(child.pid!, "SIGCONT");
  await expect.poll(packets, { timeout: 10_000 }).toBeGreaterThan(before);
});
