import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

const PORTS = new URL("ports.ts", import.meta.url);
/** Prints 40 ports, and runs until its input ends. */
const PROGRAM = `
  const { freePorts } = await import(${JSON.stringify(PORTS.href)});
  const ports = [];
  while (ports.length < 40) ports.push(await freePorts(1));
  console.log(JSON.stringify(ports));
  process.stdin.resume();
`;

test("concurrent processes never get the same port", async () => {
  const programs = Array.from({ length: 4 }, () => spawn(process.execPath, ["--input-type=module", "-e", PROGRAM]));
  try {
    const outputs = await Promise.all(programs.map(({ stdout }) => once(stdout, "data")));
    const ports = outputs.flatMap(([line]) => JSON.parse(String(line)) as number[]);
    expect(ports).toHaveLength(160);
    expect(new Set(ports).size).toBe(160);
  } finally {
    for (const { stdin } of programs) stdin.end();
  }
});
