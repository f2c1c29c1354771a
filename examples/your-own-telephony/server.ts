#!/usr/bin/env bun
// A custom telephone network behind Ringport's telephony port: every call rings on this computer, and its loudspeaker
// plays the callee's side. `contract.test.ts` tests the port's contract.
//
//   Start   bun your-own-telephony/server.ts      with ffplay; PLAYER names another program that plays its stdin
//   Test    bun test your-own-telephony
//   Call    RINGPORT_TOKEN=rp_live_… bun polling-client.ts
import { spawn } from "node:child_process";
import process from "node:process";
import { createRingport } from "ringport";
import { serve } from "ringport/bun";
import { SAMPLE_RATE } from "./leg.ts";
import { loudspeaker } from "./loudspeaker.ts";

const { PORT = 8080, PLAYER = `ffplay -loglevel error -nodisp -f s16le -ar ${SAMPLE_RATE} -` } = process.env;
const player = spawn(PLAYER, { shell: true, stdio: ["pipe", "inherit", "inherit"] });
player.once("exit", () => process.exit(1)); // the loudspeaker is disconnected
const telephony = loudspeaker((_callId, frame) => player.stdin.write(new Uint8Array(frame.slice().buffer)));

const ringport = createRingport({ telephony, data: "./data" });
const { url } = await serve(ringport, { port: Number(PORT) });
console.log(`Ringport is listening on ${url}`);
// Printed only on a terminal: piped output ends up in logs.
const first = process.stdout.isTTY && (await ringport.tokens.first({ userName: "me", label: "first start" }));
if (first) console.log(`Your token, shown this one time only: ${first.token}`);
else console.log("A token: npx ringport token create --user me");
