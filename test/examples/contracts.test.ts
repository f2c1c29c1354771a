import { expect, test } from "vitest";
import { run } from "../package/support/run.ts";
import { folder, runtimeNamed } from "./example.ts";

const bun = runtimeNamed("bun");

test.skipIf(bun.missing).each([
  ["your-own-storage", 66],
  ["your-own-telephony", 19],
])(`%s passes the published contract on ${bun.title}: %i tests`, async (name, tests) => {
  const { code, stderr } = await run([...bun.command, "test", name], { cwd: folder });
  expect(stderr).toMatch(new RegExp(`^ *${tests} pass$`, "m"));
  expect(stderr).toMatch(/^ *0 fail$/m);
  expect(code).toBe(0);
});
