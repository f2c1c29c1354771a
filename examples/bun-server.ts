#!/usr/bin/env bun
// A Ringport server on Bun: the HTTP interface, a token on the first start, and a graceful shutdown.
//
//   Start   bun bun-server.ts
//   Call    RINGPORT_TOKEN=rp_live_… bun polling-client.ts
import process from "node:process";
import { createRingport } from "ringport";
import { serve } from "ringport/bun";

const ringport = createRingport({ data: "./data" });
const server = await serve(ringport, { port: Number(process.env.PORT ?? 8080) });

console.log(`Ringport is listening on ${server.url}; documentation: ${server.url}/docs`);
// Printed only on a terminal: piped output ends up in logs.
const first = process.stdout.isTTY && (await ringport.tokens.first({ userName: "me", label: "first start" }));
if (first) console.log(`Your token, shown this one time only: ${first.token}`);
else console.log("A token: npx ringport token create --user me");
console.log("Link a number and call with it: RINGPORT_TOKEN=rp_live_… bun polling-client.ts");

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, async () => {
    await ringport.stop(); // live calls may continue for ten seconds
    await server.close();
  });
