import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

const PORTS = new URL("ports.ts", import.meta.url);
/** Prints 40 ports, and runs until its input ends. */
const ASKER = `
  const { freePorts } = await import(${JSON.stringify(PORTS.href)});
  const ports = [];
  while (ports.length < 40) ports.push(await freePorts(1));
  console.log(JSON.stringify(ports));
  process.stdin.resume();
`;

test("processes that ask at the same time never get the same port", async () => {
  const askers = Array.from({ length: 4 }, () => spawn(process.execPath, ["--input-type=module", "-e", ASKER]));
  try {
    const printed = await Promise.all(askers.map(({ stdout }) => once(stdout, "data")));
    const ports = printed.flatMap(([line]) => JSON.parse(String(line)) as number[]);
    expect(ports).toHaveLength(160);
    expect(new Set(ports).size).toBe(160);
  } finally {
    for (const { stdin } of askers) stdin.end();
  }
});
