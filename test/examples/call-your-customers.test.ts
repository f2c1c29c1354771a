import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RuntimeName } from "../support/runtimes.ts";
import { type CallView, expected } from "../support/server-client.ts";
import { folder, runtimeNamed, startExample } from "./example.ts";
import { startProgram } from "./program.ts";
import { expectTone, TONE_WAV } from "./tone-call.ts";

describe("call-your-customers.ts calls each person on a list, and names the row that it cannot call", () => {
  for (const name of ["node26", "bun", "deno"] as const satisfies readonly RuntimeName[]) {
    const runtime = runtimeNamed(name);
    test.skipIf(runtime.missing)(`on ${runtime.title}`, async () => {
      const { base, client } = await startExample("node-server.ts");
      const { id } = await client.activeInstance("Clinic");
      const env = { RINGPORT_URL: base, RINGPORT_TOKEN: client.token!, INSTANCE: id };
      writeFileSync(join(folder(), "people.csv"), "phone,name\n+12025550100,Ana\n+1 202 555 0111,Ben\n12,Cleo\n");
      writeFileSync(join(folder(), "tone.wav"), TONE_WAV);
      const args = ["call-your-customers.ts", "people.csv", "tone.wav"];
      const output = await startProgram(runtime, args, folder(), env).finalOutput;

      expect(output).toMatch(/^row 4: column "phone": "12" must be an E\.164 number/m);
      expect(output).toMatch(/^COMPLETED: 2 heard it, 0 failed, 0 on the phone, 0 waiting$/m);
      const rows = readFileSync(join(folder(), "results.csv"), "utf8").trim().split("\r\n");
      expect(rows).toHaveLength(4);
      const calls = expected(200, await client.get("/v1/calls?expand=outcome")).json<CallView[]>();
      expect(calls.map(({ target_phone }) => target_phone).sort()).toEqual(["+12025550100", "+12025550111"]);
      for (const { id: callId, outcome } of calls) {
        expect(outcome).toMatchObject({ reason: "message_played", heard_ratio: 1 });
        expectTone(await client.heard(callId));
      }
    });
  }
});
